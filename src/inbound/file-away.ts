/**
 * Filing away: after a decision is committed, the file is moved to where the ledger says that it lies and its receipt is
 * written. Every step can be repeated: whatever was done before a crash is found done.
 *
 * Synchronous on purpose: it runs in a thread of its own, where one call after the other is the quickest way.
 * The folders are synced once for the whole group. A receipt is not synced by itself: its content is in the ledger, and
 * after a power failure the receipts of the last minutes are written again.
 */
import {
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { nameWithId } from "../domain/stop-file-name.ts";
import { messageOf, systemCodeOf } from "../lib/errors.ts";
import { killPoint } from "../lib/kill-point.ts";

export interface FilingTask {
  readonly id: number;
  readonly from: string;
  readonly to: string;
  readonly receipt: string;
  /** Paths under which the receipt is written. */
  readonly receiptPaths: readonly string[];
  /** Receipt of an earlier refusal that no longer holds. */
  readonly staleReceiptPath?: string;
}

export type FilingResult =
  | {
      readonly id: number;
      readonly kind: "filed" /** Where it lies, when not where it was to lie. */;
      readonly actual?: string;
    }
  | { readonly id: number; readonly kind: "lost" }
  | { readonly id: number; readonly kind: "failed"; readonly systemCode: string; readonly message: string };

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (systemCodeOf(error) !== "ENOENT") throw error;
  }
}

function syncFile(path: string, flags = constants.O_RDONLY): void {
  const descriptor = openSync(path, flags);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function copyAcross(from: string, to: string): void {
  const temporary = join(dirname(to), `.${basename(to)}.tmp`);
  copyFileSync(from, temporary);
  killPoint("move.copied");
  syncFile(temporary);
  killPoint("move.copySynced");
  linkSync(temporary, to);
  killPoint("move.copyLinked");
  unlinkSync(temporary);
  killPoint("move.copyUnlinked");
  syncFile(dirname(to), constants.O_RDONLY | constants.O_DIRECTORY);
  unlinkSync(from);
  killPoint("move.sourceRemoved");
}

function rename(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (systemCodeOf(error) !== "EXDEV") throw error;
    copyAcross(from, to);
  }
}

/** One file under two names, or the copy of a move between file systems that was cut short before its end. */
function isSameFile(task: FilingTask, source: Stats, target: Stats): boolean {
  if (source.dev === target.dev) return source.ino === target.ino;
  return source.size === target.size && readFileSync(task.from).equals(readFileSync(task.to));
}

/** Moves without overwriting; gives the path at which the file lies then, or undefined when it is nowhere. */
function move(task: FilingTask): string | undefined {
  const source = statOf(task.from);
  const target = task.from === task.to ? undefined : statOf(task.to);
  if (source === undefined) return target === undefined ? undefined : task.to;
  if (task.from === task.to) return task.to;
  if (target === undefined) {
    rename(task.from, task.to);
    return task.to;
  }
  if (isSameFile(task, source, target)) {
    unlinkSync(task.from);
    killPoint("file.secondLinkRemoved");
    return task.to;
  }
  const other = join(dirname(task.to), nameWithId(basename(task.to), task.id));
  rename(task.from, other);
  return other;
}

function writeReceipt(path: string, text: string): void {
  const temporary = join(dirname(path), `.${basename(path)}.tmp`);
  const descriptor = openSync(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, 0o640);
  killPoint("receipt.opened");
  try {
    writeSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
  killPoint("receipt.written");
  renameSync(temporary, path);
  killPoint("receipt.renamed");
}

const knownDirectories = new Set<string>();

function makeDirectoryOf(path: string): void {
  const directory = dirname(path);
  if (knownDirectories.has(directory)) return;
  mkdirSync(directory, { recursive: true, mode: 0o750 });
  killPoint("file.folderMade");
  syncFile(dirname(directory), constants.O_RDONLY | constants.O_DIRECTORY);
  if (knownDirectories.size > 1000) knownDirectories.clear();
  knownDirectories.add(directory);
}

function fileOne(task: FilingTask, touched: Set<string>): FilingResult {
  try {
    killPoint("file.begun");
    makeDirectoryOf(task.to);
    killPoint("file.folderReady");
    const at = move(task);
    killPoint("file.moved");
    for (const path of task.receiptPaths) {
      makeDirectoryOf(path);
      writeReceipt(path, task.receipt);
      touched.add(dirname(path));
    }
    if (task.staleReceiptPath !== undefined) unlinkIfThere(task.staleReceiptPath);
    killPoint("receipt.allWritten");
    if (at === undefined) return { id: task.id, kind: "lost" };
    touched.add(dirname(task.from)).add(dirname(at));
    return at === task.to ? { id: task.id, kind: "filed" } : { id: task.id, kind: "filed", actual: at };
  } catch (error) {
    knownDirectories.delete(dirname(task.to));
    return {
      id: task.id,
      kind: "failed",
      systemCode: systemCodeOf(error) ?? "unknown",
      message: messageOf(error),
    };
  }
}

/** Files a group away. Results are in the order of the tasks and hold after a power failure. */
export function fileGroupAway(tasks: readonly FilingTask[]): FilingResult[] {
  const touched = new Set<string>();
  const results = tasks.map((task) => fileOne(task, touched));
  for (const directory of touched) {
    syncFile(directory, constants.O_RDONLY | constants.O_DIRECTORY);
    killPoint("file.folderSynced");
  }
  killPoint("file.groupDone");
  return results;
}
