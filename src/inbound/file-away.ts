/**
 * Filing away: after a decision is committed, the file is moved to where the ledger says that it lies and its receipt is
 * written. Every step can be repeated: whatever was done before a crash is found done.
 *
 * Synchronous on purpose: it runs in a thread of its own, where one call after the other is the quickest way.
 * The folders are synced once for the whole group. A receipt is not synced by itself: its content is in the ledger, and
 * after a power failure the receipts of the last minutes are written again.
 */
import { hash } from "node:crypto";
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
  /** Of the bytes that were decided about; empty or null when there were none. */
  readonly sha256: string | null;
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

function temporaryFor(path: string): string {
  return join(dirname(path), `.${basename(path)}.tmp`);
}

function copyAcross(from: string, to: string): void {
  const temporary = temporaryFor(to);
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

function holds(path: string, sha256: string | null): boolean {
  return sha256 !== null && sha256 !== "" && hash("sha256", readFileSync(path), "hex") === sha256;
}

/**
 * Where an attempt before this one, perhaps before a crash, has put the file; undefined when it is still to be moved. The
 * name under which it came may have been used again since then: what lies there now is another file, and is left alone.
 */
function movedBefore(
  task: FilingTask,
  source: Stats | undefined,
  target: Stats | undefined,
): string | undefined {
  const aside = asideFor(task);
  if (statOf(aside) !== undefined) return aside;
  if (target === undefined) return undefined;
  if (source === undefined) return task.to;
  if (isSameFile(task, source, target)) {
    unlinkIfThere(temporaryFor(task.to));
    unlinkSync(task.from);
    killPoint("file.secondLinkRemoved");
    return task.to;
  }
  return target.isFile() && holds(task.to, task.sha256) ? task.to : undefined;
}

/** Its place when somebody else's file lies where it was to go. */
function asideFor({ to, id }: FilingTask): string {
  return join(dirname(to), nameWithId(basename(to), id));
}

/** Moves without overwriting; gives the path at which the file lies then, or undefined when it is nowhere. */
function move(task: FilingTask): string | undefined {
  const source = statOf(task.from);
  if (task.from === task.to) return source === undefined ? undefined : task.to;
  const target = statOf(task.to);
  if (source !== undefined && target === undefined) {
    rename(task.from, task.to);
    return task.to;
  }
  const before = movedBefore(task, source, target);
  if (before !== undefined || source === undefined) return before;
  const aside = asideFor(task);
  rename(task.from, aside);
  return aside;
}

function writeReceipt(path: string, text: string): void {
  const temporary = temporaryFor(path);
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

/** Writes a receipt that survives a power failure when the function returns. Leaves nothing behind that the next attempt does not replace. */
export function writeReceiptDurably(path: string, text: string): void {
  makeDirectoryOf(path);
  writeReceipt(path, text);
  syncFile(path);
  syncFile(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
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
