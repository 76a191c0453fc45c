/**
 * Numbers that clients may see without learning how many there are: the number of a row, which counts what all companies do,
 * is encrypted as one block and shown in the form of a GUID. The same number has the same form as long as the key is kept.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { guidForm } from "./ids.ts";

const keyBytes = 16;
const blockBytes = 16;

export interface SealedNumbers {
  /** The form in which a number is shown, such as `5c1e0f2a-…`. */
  seal(value: number): string;
  /** The number of such a form, in any case; undefined for everything that this key has not made. */
  open(text: string): number | undefined;
}

/** A key for `createSealedNumbers`, as text. */
export function newSealingKey(): string {
  return randomBytes(keyBytes).toString("hex");
}

const sealedForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text has the form of a sealed number, of whatever key. */
export function isSealedForm(text: string): boolean {
  return sealedForm.test(text);
}

/** Seals and opens numbers of one kind (`kind` is at most 8 characters): a form of one kind opens under no other. */
export function createSealedNumbers(key: string, kind: string): SealedNumbers {
  const secret = Buffer.from(key, "hex");
  // One block, every value of which is different: there is nothing for a mode of operation to chain.
  const cipher = createCipheriv("aes-128-ecb", secret, null).setAutoPadding(false);
  const decipher = createDecipheriv("aes-128-ecb", secret, null).setAutoPadding(false);
  const block = Buffer.alloc(blockBytes);
  block.write(kind, "latin1");
  return {
    seal(value) {
      block.writeBigUInt64BE(BigInt(value), 8);
      return guidForm(cipher.update(block));
    },
    open(text) {
      if (!isSealedForm(text)) return undefined;
      const opened = decipher.update(Buffer.from(text.replaceAll("-", ""), "hex"));
      if (!opened.subarray(0, 8).equals(block.subarray(0, 8))) return undefined;
      const value = Number(opened.readBigUInt64BE(8));
      return Number.isSafeInteger(value) ? value : undefined;
    },
  };
}

/** Values below this are sealed; a counter of rows does not get there. */
const sealedRange = 2 ** 30;
const halfBits = 15;
const halfMask = 2 ** halfBits - 1;
const rounds = 4;

/**
 * The same where a number has to be shown as a number, one that fits 32 bits with its sign: another one below 2^30 for each,
 * by a Feistel network over two halves, so that no two are shown as the same.
 */
export function createSealedIntegers(key: string, kind: string): (value: number) => number {
  const cipher = createCipheriv("aes-128-ecb", Buffer.from(key, "hex"), null).setAutoPadding(false);
  const block = Buffer.alloc(blockBytes);
  block.write(kind, "latin1");
  const mixed = (round: number, half: number) => {
    block.writeUInt32BE(round, 8);
    block.writeUInt32BE(half, 12);
    return cipher.update(block).readUInt32BE(0) & halfMask;
  };
  return (value) => {
    if (!Number.isInteger(value) || value < 0 || value >= sealedRange) return value;
    let [left, right] = [value >>> halfBits, value & halfMask];
    for (let round = 0; round < rounds; round += 1) [left, right] = [right, left ^ mixed(round, right)];
    return left * 2 ** halfBits + right;
  };
}
