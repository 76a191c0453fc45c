/**
 * Reads a file that somebody else put there. It is opened without following a link and without blocking on a FIFO, and
 * only a regular file is read. A file over the limit is still hashed, in bounded memory, because the ledger keeps the
 * hash of every file.
 */
import { createHash, hash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { messageOf, systemCodeOf } from "../lib/errors.ts";

export type FileOnce =
  | { readonly kind: "bytes"; readonly bytes: Buffer; readonly sha256: string }
  | { readonly kind: "tooLarge"; readonly size: number; readonly sha256: string }
  | { readonly kind: "unreadable"; readonly systemCode: string; readonly message: string };

const reusableSize = 256 * 1024;
/** Most files are small; they share one buffer a thread, so its bytes hold only until the next read. */
let reusable: Buffer | undefined;

function bufferFor(size: number): Buffer {
  if (size > reusableSize) return Buffer.allocUnsafe(size);
  reusable ??= Buffer.allocUnsafeSlow(reusableSize);
  return reusable;
}

/** Reads until the buffer is full or the file ends; says how many bytes there are. */
function fill(descriptor: number, buffer: Buffer): number {
  let length = 0;
  while (length < buffer.length) {
    const count = readSync(descriptor, buffer, length, buffer.length - length, null);
    if (count === 0) break;
    length += count;
  }
  return length;
}

function hashRest(descriptor: number, begin: Buffer): FileOnce {
  const digest = createHash("sha256").update(begin);
  const buffer = bufferFor(0);
  let size = begin.length;
  for (let count = fill(descriptor, buffer); count > 0; count = fill(descriptor, buffer)) {
    digest.update(buffer.subarray(0, count));
    size += count;
  }
  return { kind: "tooLarge", size, sha256: digest.digest("hex") };
}

function readOpen(descriptor: number, maxBytes: number): FileOnce {
  const stat = fstatSync(descriptor);
  if (!stat.isFile())
    return { kind: "unreadable", systemCode: "ENOTREG", message: "it is not a regular file" };
  if (stat.size > maxBytes) return hashRest(descriptor, Buffer.alloc(0));
  // One byte more than the file is said to have shows that it has grown meanwhile.
  const buffer = bufferFor(stat.size + 1);
  const length = fill(descriptor, buffer);
  const bytes = buffer.subarray(0, length);
  if (length === buffer.length) return readGrown(descriptor, bytes, maxBytes);
  return { kind: "bytes", bytes, sha256: hash("sha256", bytes, "hex") };
}

/** The file grew while it was read: reads on, up to the limit. */
function readGrown(descriptor: number, begin: Buffer, maxBytes: number): FileOnce {
  const buffer = Buffer.allocUnsafe(maxBytes + 1);
  begin.copy(buffer, 0, 0, Math.min(begin.length, buffer.length));
  const length = begin.length + fill(descriptor, buffer.subarray(begin.length));
  if (length > maxBytes) return hashRest(descriptor, buffer.subarray(0, length));
  const bytes = buffer.subarray(0, length);
  return { kind: "bytes", bytes, sha256: hash("sha256", bytes, "hex") };
}

/** The file's bytes and SHA-256, or why there are none. The bytes hold until the next call. */
export function readFileOnce(path: string, maxBytes: number): FileOnce {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    return readOpen(descriptor, maxBytes);
  } catch (error) {
    // A NUL in the name has a code of its own kind (ERR_INVALID_ARG_VALUE); anything without a code is no file fault.
    const systemCode = systemCodeOf(error);
    if (systemCode === undefined) throw error;
    const reason =
      messageOf(error)
        .split(",")[0]
        ?.replace(/^[A-Z0-9_]+: /, "") ?? systemCode;
    return { kind: "unreadable", systemCode, message: reason };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
