/**
 * Changes of names where several nodes share the tree. A node that has lost a company may not know it yet: it was frozen, say,
 * between two instructions, and goes on in the middle of a move while another node has done all of it, and a new file has come
 * under the old name. So no step overwrites, and none removes what it has not looked at:
 *
 *   link   from ──> to            refused by the system when `to` is taken; a copy of it, when it is another user's
 *   rename from ──> .<id>.gone    takes whatever has the name now
 *   then, when that is the file at `to`: unlinked; when it is another one: linked back, or renamed to `.again` where it cannot be
 *
 * Each step is made while the lease is good, and looked at again after it: when the lease is good then too, nobody else has
 * acted. When it is over, what was linked is compared with what was decided about, and removed when it is something else.
 *
 * A receipt is linked to its name too. Where one lies already, that is taken away first, whichever it is by then, and comes back
 * when the lease is over: the new owner's receipt of a newer file is not lost to that of an older one. So is one with the same
 * text: a node that was frozen right after its link removes its own, and only that, when it wakes up.
 *
 * Survives a crash: the bytes, under `from`, `to` or both, with a further name of what lies at `to`, or of a file that was to
 * be given back. Who files the task anew tidies that up; where its task is filed, `TakenNames` does, in `inbound/` and
 * `receipts/`, and `OrphanedReceipts` in `error/`.
 */
import { hash } from "node:crypto";
import { closeSync, constants, lstatSync, readdirSync, readFileSync, type Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isLinkForbidden, systemCodeOf } from "../../lib/errors.ts";
import {
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from "../../lib/files/changes.ts";
import { againFolderName, isInAgain, nameOfAgainFile, newAgainName } from "./place-arrival.ts";

/** What a name that was taken away has behind, until it is known of which file it was. */
export const goneEnding = ".gone";

/** The right to change the files of a company. */
export interface Hold {
  /** Whether it is over; by the clock that nobody sets. */
  isOver(): boolean;
}

/** The company is another node's, or will be soon. Nothing was changed, or it was undone. */
export class HoldOverError extends Error {
  constructor() {
    super("the lease of the company is over");
    this.name = "HoldOverError";
  }
}

/** For `catch`: passes on what is not that the company is another node's. */
export function unlessHoldOver(error: unknown): undefined {
  if (!(error instanceof HoldOverError)) throw error;
  return undefined;
}

/** Another node has given a file the name at this moment. */
export class NameTakenError extends Error {
  constructor(path: string) {
    super(`${path} is taken`);
    this.name = "NameTakenError";
  }
}

/** A folder has the name of a receipt. */
class FolderInTheWayError extends Error {
  readonly code = "EISDIR";

  constructor(path: string) {
    super(`EISDIR: ${path} is a folder`);
    this.name = "FolderInTheWayError";
  }
}

export function assertHeld({ isOver }: Hold): void {
  if (isOver()) throw new HoldOverError();
}

function statOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

/** What tells a file from all others of the machine. */
export type Inode = Pick<Stats, "ino" | "dev">;

function isSameInode(one: Inode | undefined, other: Inode | undefined): boolean {
  return one !== undefined && one.ino === other?.ino && one.dev === other.dev;
}

/** False when the system says that this is so already: the name is taken, or the file is gone. */
function unless(code: "EEXIST" | "ENOENT", change: () => void): boolean {
  try {
    change();
    return true;
  } catch (error) {
    if (systemCodeOf(error) !== code) throw error;
    return false;
  }
}

/** Puts what had a name before it was taken away under that name again. */
type GiveBack = (taken: string, path: string) => void;

/** False when another file has the name, or no link is permitted. */
function mayLink(taken: string, path: string): boolean {
  try {
    return unless("EEXIST", () => linkSync(taken, path));
  } catch (error) {
    if (!isLinkForbidden(error) || statOf(taken)?.isFile() !== true) throw error;
    return false;
  }
}

/** Of a file, or to `.again` when it cannot have its name, because a third one has it, say: the scan finds that. */
function giveBackFile(taken: string, path: string): void {
  // It has its name already when a node died in between.
  if (mayLink(taken, path) || isSameInode(statOf(taken), statOf(path))) {
    unlinkSync(taken);
    return;
  }
  const again = isInAgain(path) ? dirname(path) : join(dirname(path), againFolderName);
  mkdirSync(again, { recursive: true, mode: 0o750 });
  renameSync(taken, join(again, newAgainName(nameOfAgainFile(basename(path)))));
}

/** Of a receipt, unless a later one has the name meanwhile, or a look for what dead nodes have left was quicker. */
function giveBackReceipt(taken: string, path: string): void {
  unless("ENOENT", () => {
    unless("EEXIST", () => linkSync(taken, path));
    unlinkSync(taken);
  });
}

/** A receipt that was there. */
export interface ReadReceipt {
  readonly path: string;
  readonly text: string;
  readonly file: Inode;
}

/**
 * Removes a receipt that was read before, by a node that need not have the company, and none that has its name since. Gives
 * whether it was removed.
 */
export function removeReadReceipt({ path, text, file }: ReadReceipt, privateName: string): boolean {
  const taken = join(dirname(path), privateName);
  // The number of a file that is gone is given to another one.
  const isIt = (at: string) => isSameInode(statOf(at), file) && readFileSync(at, "utf8") === text;
  if (!isIt(path) || !unless("ENOENT", () => renameSync(path, taken))) return false;
  let isRemoved = false;
  try {
    isRemoved = isIt(taken);
  } finally {
    if (isRemoved) unless("ENOENT", () => unlinkSync(taken));
    else giveBackReceipt(taken, path);
  }
  return isRemoved;
}

/** Removes a name of a file, and never that of another file that has the name now. */
export function removeName(
  path: string,
  file: Stats,
  privateName: string,
  giveBack: GiveBack = giveBackFile,
): void {
  const taken = join(dirname(path), privateName);
  if (!unless("ENOENT", () => renameSync(path, taken))) return;
  // A look for what dead nodes have left may be quicker.
  unless("ENOENT", () => (isSameInode(statOf(taken), file) ? unlinkSync(taken) : giveBack(taken, path)));
}

interface LeftNames {
  readonly id: number;
  readonly from: string;
  /** Where the file lies now. */
  readonly at: string;
  readonly folders: readonly string[];
}

/**
 * Ends what a node had begun that took away the name `from` of a file, which lies at `at`, and died then: removes it, or gives
 * back another file that it has taken by mistake; true then. Nothing is removed for its content: a file that was sent twice has
 * an entry for each.
 */
export function endTaking(taken: string, { from, at }: Pick<LeftNames, "from" | "at">): boolean {
  if (isSameInode(statOf(taken), statOf(at))) {
    unless("ENOENT", () => unlinkSync(taken));
    return false;
  }
  return unless("ENOENT", () => giveBackFile(taken, from));
}

/** Removes what a node that has died in the middle of this task has left, and gives back what it had taken by mistake. */
export function tidyUp({ id, from, at, folders }: LeftNames): void {
  const front = `.${id}.`;
  for (const folder of new Set(folders)) {
    for (const name of readdirSync(folder).filter((one) => one.startsWith(front))) {
      const path = join(folder, name);
      const isTaken = folder === dirname(from) && name.endsWith(goneEnding);
      if (isTaken) endTaking(path, { from, at });
      else unless("ENOENT", () => unlinkSync(path));
    }
  }
}

interface SharedMove {
  readonly from: string;
  /** Nothing lies there. */
  readonly to: string;
  /** Of the bytes that were decided about; empty or null when there were none. */
  readonly sha256: string | null;
  readonly privateName: string;
  readonly hold: Hold;
}

function isOther(path: string, sha256: string | null): boolean {
  return sha256 !== null && sha256 !== "" && hash("sha256", readFileSync(path), "hex") !== sha256;
}

/**
 * Gives the file its further name `to`; false when another file has it now. The caller removes the old name with `removeName`.
 * Throws `EXDEV` where they lie on different file systems.
 */
export function linkShared({ from, to, sha256, privateName, hold }: SharedMove): boolean {
  assertHeld(hold);
  if (!unless("EEXIST", () => linkSync(from, to))) return false;
  if (!hold.isOver()) return true;
  const linked = statOf(to);
  if (linked !== undefined && isOther(to, sha256)) removeName(to, linked, privateName);
  throw new HoldOverError();
}

/** What may have to be there, or be gone, for a receipt to be written. */
export type Standing = "there" | "missing";

interface SharedReceipt {
  readonly path: string;
  readonly text: string;
  readonly onlyIf?: Standing | undefined;
  /** Of this process alone. */
  readonly privateName: string;
  readonly hold: Hold;
}

function writeAnew(path: string, text: string): void {
  unless("ENOENT", () => unlinkSync(path));
  const descriptor = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o640);
  try {
    writeFileSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Puts a receipt into its place, unless the lease is over; false, and the one that is there stays, where it is not as `onlyIf`
 * says. A former receipt is taken away before the new one comes: a host that deletes it before does not find the former one
 * again, and one that looks between the two finds none yet.
 */
export function placeReceiptShared(receipt: SharedReceipt): boolean {
  const { path, text, privateName, hold, onlyIf } = receipt;
  const temporary = join(dirname(path), `${privateName}.new`);
  writeAnew(temporary, text);
  try {
    assertHeld(hold);
    const own = statOf(temporary);
    if (onlyIf !== "there" && unless("EEXIST", () => linkSync(temporary, path))) {
      if (!hold.isOver()) return true;
      if (own !== undefined) removeName(path, own, privateName, giveBackReceipt);
      throw new HoldOverError();
    }
    return onlyIf !== "missing" && replaceReceipt(receipt, temporary);
  } finally {
    unless("ENOENT", () => unlinkSync(temporary));
  }
}

/** It could be taken away, and never be removed. */
function assertNoFolder(path: string): void {
  if (statOf(path)?.isDirectory() === true) throw new FolderInTheWayError(path);
}

/** False when there is none any more and one has to be. */
function replaceReceipt(receipt: SharedReceipt, temporary: string): boolean {
  const { path, privateName, hold, onlyIf } = receipt;
  assertNoFolder(path);
  const former = join(dirname(path), `${privateName}.former`);
  const own = statOf(temporary);
  assertHeld(hold);
  const hasFormer = unless("ENOENT", () => renameSync(path, former));
  if (hold.isOver()) {
    if (hasFormer) giveBackReceipt(former, path);
    throw new HoldOverError();
  }
  if (!hasFormer && onlyIf === "there") return false;
  const isPlaced = unless("EEXIST", () => linkSync(temporary, path));
  if (hold.isOver()) {
    if (isPlaced && own !== undefined) removeName(path, own, privateName, giveBackReceipt);
    if (hasFormer) giveBackReceipt(former, path);
    throw new HoldOverError();
  }
  // A look for what dead nodes have left may have been quicker.
  if (hasFormer) unless("ENOENT", () => unlinkSync(former));
  // Somebody else has put one there, while the lease was good.
  return isPlaced || replaceReceipt(receipt, temporary);
}

/** Removes a receipt that is there, and gives whether one was; it comes back when the lease is over by then. */
export function removeStaleShared(path: string, privateName: string, hold: Hold): boolean {
  assertHeld(hold);
  assertNoFolder(path);
  const taken = join(dirname(path), privateName);
  if (!unless("ENOENT", () => renameSync(path, taken))) return false;
  if (hold.isOver()) {
    giveBackReceipt(taken, path);
    throw new HoldOverError();
  }
  unless("ENOENT", () => unlinkSync(taken));
  return true;
}
