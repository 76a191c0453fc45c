/**
 * Filing away: after a decision is committed, moves the file to where the ledger says that it lies, and writes its receipt.
 * Every step can be repeated: it finds what was done before a crash.
 *
 * Synchronous on purpose: it runs in a thread of its own, where one call after the other is the quickest way. It syncs the
 * folders once for the whole group, and receipts not by themselves: the ledger has their content, and the start after a
 * power failure writes those of the last minutes again.
 *
 * Where several nodes share the tree, a task says until when its company is this node's, and each change is made as
 * `shared-moves.ts` tells: one after that moment is undone, and the task is given up.
 */
import { hash, randomBytes } from "node:crypto";
import { closeSync, constants, fstatSync, lstatSync, readdirSync, readFileSync, type Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import { nameWithMark, receiptNameOf } from "../../domain/files/stop-file-name.ts";
import { monotonicMs } from "../../lib/clock.ts";
import { isLinkForbidden, messageOf, systemCodeOf } from "../../lib/errors.ts";
import {
  copyFileSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "../../lib/files/changes.ts";

import { filedMode, isOwnCopy } from "./copy-mode.ts";
import {
  assertHeld,
  goneEnding,
  type Hold,
  HoldOverError,
  linkShared,
  NameTakenError,
  placeReceiptShared,
  removeName,
  removeStaleShared,
  tidyUp,
} from "./shared-moves.ts";

export interface FilingTask {
  readonly id: number;
  readonly companyId: number;
  /** What hosts see of the id: it is in their folders when the name is taken there. */
  readonly reference: string;
  readonly from: string;
  readonly to: string;
  /** Of the bytes that were decided about; empty or null when there were none. */
  readonly sha256: string | null;
  readonly receipt: string;
  /** Paths under which the receipt is written; the first is that in `receipts/`. */
  readonly receiptPaths: readonly string[];
  /** What one of these paths gets instead, because a file of the name came later. */
  readonly receiptOfName?: { readonly path: string; readonly text: string };
  /** Receipt of an earlier refusal that no longer holds. */
  readonly staleReceiptPath?: string;
  /** Until when the company is this node's, by `monotonicMs`; not given where one process has all companies for ever. */
  readonly goodUntil?: number | undefined;
}

/** What the tasks of one group have in common. */
interface Group {
  /** Folders to be synced. */
  readonly touched: Set<string>;
  /** Tasks that have moved their files by copies. */
  readonly copied: FilingTask[];
}

export type FilingResult =
  | {
      readonly id: number;
      readonly kind: "filed";
      /** Where it lies, when not where it was to lie. */
      readonly actual?: string;
    }
  | { readonly id: number; readonly kind: "lost" }
  /** The company was lost meanwhile: nothing is done, or it is undone. */
  | { readonly id: number; readonly kind: "fenced" }
  | { readonly id: number; readonly kind: "failed"; readonly systemCode: string; readonly message: string };

function statOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
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

/**
 * Temporary names of a task, beside what it makes: one for bytes on their way between file systems, one for receipts.
 * Short, because the name of the file may be as long as a name can be; what a crash left is replaced by the next attempt.
 * Two names, because the first may still be a second link to the bytes.
 */
function temporaryNamesOf(id: number): { readonly bytes: string; readonly receipt: string } {
  return { bytes: `.${id}.tmp`, receipt: `.${id}.receipt.tmp` };
}

function temporaryFor({ to, id }: FilingTask): string {
  return join(dirname(to), temporaryNamesOf(id).bytes);
}

function copyAcross({ from }: FilingTask, temporary: string, to: string): void {
  // Never written over: it may be a link to bytes that have arrived.
  unlinkIfThere(temporary);
  copyFileSync(from, temporary);
  syncFile(temporary);
  linkSync(temporary, to);
  unlinkSync(temporary);
  syncFile(dirname(to), constants.O_RDONLY | constants.O_DIRECTORY);
  unlinkSync(from);
}

/** Before the move: once it is filed, nobody looks at its mode again. Never through a link that somebody has put there. */
function giveFiledMode(path: string, { ino }: Stats): void {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (fstatSync(descriptor).ino === ino) fchmodSync(descriptor, filedMode);
  } finally {
    closeSync(descriptor);
  }
}

/** Between file systems, or where a node has to link and may not. */
function needsCopy(error: unknown, { goodUntil }: FilingTask): boolean {
  return systemCodeOf(error) === "EXDEV" || (isLinkForbidden(error) && goodUntil !== undefined);
}

interface Moving {
  readonly task: FilingTask;
  readonly source: Stats;
  readonly to: string;
  readonly group: Group;
}

function rename({ task, source, to, group }: Moving): void {
  if (isOwnCopy(source)) giveFiledMode(task.from, source);
  const isShared = task.goodUntil !== undefined;
  try {
    if (isShared) linkOrRefuse(task, task.from, to);
    else renameSync(task.from, to);
  } catch (error) {
    if (!needsCopy(error, task)) throw error;
    if (isShared) copyShared({ task, source, to, group });
    else copyAcross(task, temporaryFor(task), to);
    return;
  }
  if (isShared) removeShared(task, source);
}

/** Of this process: another node may be at the same task. */
const processMark = randomBytes(4).toString("hex");

function privateNameOf({ id }: FilingTask): string {
  return `.${id}.${processMark}${goneEnding}`;
}

function holdOf({ goodUntil = Number.POSITIVE_INFINITY }: FilingTask): Hold {
  return { isOver: () => monotonicMs() >= goodUntil };
}

function tidyUpAfter({ id, from, receiptPaths }: FilingTask, at: string): void {
  const folders = [from, at, ...receiptPaths].map((path) => dirname(path));
  tidyUp({ id, from, at, folders: folders.filter((folder) => statOf(folder) !== undefined) });
}

function removeShared(task: FilingTask, file: Stats): void {
  removeName(task.from, file, privateNameOf(task));
}

function linkOrRefuse(task: FilingTask, from: string, to: string): void {
  const { sha256 } = task;
  if (!linkShared({ from, to, sha256, privateName: privateNameOf(task), hold: holdOf(task) }))
    throw new NameTakenError(to);
}

/** By a copy instead of a link. */
function copyShared({ task, source, to, group }: Moving): void {
  const temporary = join(dirname(to), `.${task.id}.${processMark}.tmp`);
  unlinkIfThere(temporary);
  group.copied.push(task);
  copyFileSync(task.from, temporary);
  try {
    utimesSync(temporary, source.atime, source.mtime);
    syncFile(temporary);
    linkOrRefuse(task, temporary, to);
  } finally {
    unlinkSync(temporary);
  }
  syncFile(dirname(to), constants.O_RDONLY | constants.O_DIRECTORY);
  removeShared(task, source);
}

/** What nodes have left of copies that died before these had their names. */
function removeFormerCopies(copied: readonly FilingTask[]): void {
  for (const [folder, tasks] of Map.groupBy(copied, ({ to }) => dirname(to))) {
    const fronts = new Set(tasks.map(({ id }) => `.${id}.`));
    const isFormer = (name: string) => name.endsWith(".tmp") && fronts.has(/^\.\d+\./.exec(name)?.[0] ?? "");
    for (const name of readdirSync(folder).filter(isFormer)) unlinkIfThere(join(folder, name));
  }
}

/** One file under two names, or the copy of an interrupted move: between file systems, or of a file of another user. */
function isSameFile(task: FilingTask, source: Stats, target: Stats): boolean {
  // The call that sets a time takes milliseconds.
  const mayBeCopy = source.uid !== target.uid && Math.abs(source.mtimeMs - target.mtimeMs) < 2;
  if (source.dev === target.dev && !mayBeCopy) return source.ino === target.ino;
  return source.size === target.size && readFileSync(task.from).equals(readFileSync(task.to));
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
  if (statOf(aside) !== undefined) {
    unlinkIfThere(temporaryFor(task));
    return aside;
  }
  if (target === undefined) return undefined;
  if (source === undefined) return task.to;
  if (isSameFile(task, source, target)) {
    unlinkIfThere(temporaryFor(task));
    if (task.goodUntil === undefined) unlinkSync(task.from);
    else removeShared(task, source);
    return task.to;
  }
  const isOurs = target.isFile() && hash("sha256", readFileSync(task.to), "hex") === task.sha256;
  return isOurs ? task.to : undefined;
}

/** Its place when another file lies where it was to go. */
function asideFor({ to, reference }: FilingTask): string {
  return join(dirname(to), nameWithMark(basename(to), reference));
}

/**
 * Moves to where nothing lies; gives the path at which the file lies then, or undefined when it is nowhere. It checks, then
 * renames: nothing is overwritten as long as this thread is the only one that puts files there.
 */
function move(task: FilingTask, group: Group): string | undefined {
  const source = statOf(task.from);
  if (task.from === task.to) return source === undefined ? undefined : task.to;
  const target = statOf(task.to);
  if (source !== undefined && target === undefined) {
    rename({ task, source, to: task.to, group });
    return task.to;
  }
  const before = movedBefore(task, source, target);
  if (before !== undefined && task.goodUntil !== undefined) tidyUpAfter(task, before);
  if (before !== undefined || source === undefined) return before;
  const aside = asideFor(task);
  rename({ task, source, to: aside, group });
  return aside;
}

function writeReceipt(path: string, temporaryName: string, text: string): void {
  const temporary = join(dirname(path), temporaryName);
  const descriptor = openSync(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, 0o640);
  try {
    // Goes on after a write that took a part, and throws when the disk is full.
    writeFileSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
  renameSync(temporary, path);
}

/** Writes a receipt that survives a power failure when the function returns. Leaves nothing behind that the next attempt does not replace. */
export function writeReceiptDurably(path: string, text: string): void {
  makeDirectoryOf(path);
  writeReceipt(path, ".again.receipt.tmp", text);
  syncReceipt(path);
}

/** Syncs a receipt with its name. */
export function syncReceipt(path: string): void {
  syncFile(path);
  syncFile(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
}

const knownDirectories = new Set<string>();

export function makeDirectoryOf(path: string): void {
  const directory = dirname(path);
  if (knownDirectories.has(directory)) return;
  mkdirSync(directory, { recursive: true, mode: 0o750 });
  syncFile(dirname(directory), constants.O_RDONLY | constants.O_DIRECTORY);
  if (knownDirectories.size > 1000) knownDirectories.clear();
  knownDirectories.add(directory);
}

/** The content for one of the paths. */
export function receiptFor({ receipt, receiptOfName }: FilingTask, path: string): string {
  return receiptOfName?.path === path ? receiptOfName.text : receipt;
}

/** A receipt beside the file stands beside where the file lies in the end. */
function receiptPathFor(task: FilingTask, path: string, at: string | undefined): string {
  const isBeside = path === join(dirname(task.to), receiptNameOf(basename(task.to)));
  return isBeside && at !== undefined ? join(dirname(at), receiptNameOf(basename(at))) : path;
}

/** More than the largest receipt has, with all the errors that it may list. */
const maxReceiptBytes = 1024 * 1024;

/** Removes a receipt, but nothing else that lies under its name: earlier versions filed files under such names. */
function removeStaleReceipt(path: string, task: FilingTask): void {
  const found = statOf(path);
  if (found === undefined || !found.isFile() || found.size > maxReceiptBytes) return;
  if (!readFileSync(path, "utf8").includes("<StopResponse")) return;
  if (task.goodUntil === undefined) unlinkSync(path);
  else removeStaleShared(path, privateNameOf(task), holdOf(task));
}

function writeReceipts(task: FilingTask, at: string | undefined, touched: Set<string>): void {
  const temporary = temporaryNamesOf(task.id).receipt;
  for (const asked of task.receiptPaths) {
    const path = receiptPathFor(task, asked, at);
    makeDirectoryOf(path);
    const text = receiptFor(task, asked);
    if (task.goodUntil === undefined) writeReceipt(path, temporary, text);
    else placeReceiptShared({ path, text, privateName: privateNameOf(task), hold: holdOf(task) });
    touched.add(dirname(path));
  }
  if (task.staleReceiptPath !== undefined) removeStaleReceipt(task.staleReceiptPath, task);
}

/** A name that another node has taken at this moment is looked at once more. */
function moveUnlessTaken(task: FilingTask, group: Group): string | undefined {
  try {
    return move(task, group);
  } catch (error) {
    if (!(error instanceof NameTakenError)) throw error;
    return move(task, group);
  }
}

function fileOne(task: FilingTask, group: Group): FilingResult {
  const { touched } = group;
  try {
    if (task.goodUntil !== undefined) assertHeld(holdOf(task));
    makeDirectoryOf(task.to);
    const at = moveUnlessTaken(task, group);
    writeReceipts(task, at, touched);
    if (at === undefined) return { id: task.id, kind: "lost" };
    touched.add(dirname(task.from)).add(dirname(at));
    return at === task.to ? { id: task.id, kind: "filed" } : { id: task.id, kind: "filed", actual: at };
  } catch (error) {
    if (error instanceof HoldOverError) return { id: task.id, kind: "fenced" };
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
  const group: Group = { touched: new Set(), copied: [] };
  const results = tasks.map((task) => fileOne(task, group));
  removeFormerCopies(group.copied);
  for (const directory of group.touched) {
    syncFile(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  }
  return results;
}
