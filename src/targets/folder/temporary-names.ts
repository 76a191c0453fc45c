/**
 * Names of files that a folder target is writing: `.<name>.<mark of the state directory><mark of the process><random>.part`,
 * the three together 16 hexadecimal digits. At most one process works on a state directory, so a name with its mark and
 * another process's was left over by a crash.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { isTemporaryName } from "../delivery-files.ts";
import type { FolderDisk } from "./folder-disk.ts";
import { removeTemporary } from "./place-files.ts";
import { hourMs } from "../../lib/durations.ts";

const leftoverAgeMs = hourMs;

function hexDigits(count: number): string {
  return randomBytes(count / 2).toString("hex");
}

/** Another one for each process, but for one in 65,536. */
export const markOfThisProcess: string = hexDigits(4);

export class TemporaryNames {
  readonly #instanceMark: string | undefined;
  readonly #processMark: string;

  /** Without the mark of the state directory nothing is known of earlier processes. */
  constructor(instanceMark: string | undefined, processMark: string) {
    this.#instanceMark = instanceMark;
    this.#processMark = processMark;
  }

  /** Another one at each attempt: one that was given up may go on writing for a while. */
  newName(name: string): string {
    return `.${name}.${this.#instanceMark ?? hexDigits(8)}${this.#processMark}${hexDigits(4)}.part`;
  }

  /** Of a name that `isTemporaryName`. */
  isOfEarlierProcess(temporaryName: string): boolean {
    if (this.#instanceMark === undefined) return false;
    const marks = temporaryName.slice(-".part".length - 16);
    return marks.startsWith(this.#instanceMark) && !marks.startsWith(this.#instanceMark + this.#processMark);
  }
}

/**
 * Removes the hidden files that a crash has left in a folder: those of an earlier process of the same state directory, and
 * those of others when they are an hour old.
 */
export async function sweepLeftovers(disk: FolderDisk, path: string, names: TemporaryNames): Promise<void> {
  for await (const entry of await disk.entries(path)) {
    if (!entry.isFile() || !isTemporaryName(entry.name)) continue;
    const leftover = join(path, entry.name);
    if (names.isOfEarlierProcess(entry.name)) {
      await removeTemporary(disk, leftover);
      continue;
    }
    const stats = await disk.lstat(leftover).catch(() => undefined); // gone meanwhile
    if (stats !== undefined && Date.now() - stats.mtimeMs > leftoverAgeMs)
      await removeTemporary(disk, leftover);
  }
}
