/**
 * Restores a backup to a state directory that is not there, or empty.
 *
 *   locked, marked by `dropgate.restoring` ──> files copied, each hashed ──> database of its own instance, deliveries held
 *   ──> marker of the instance ──> mark removed ──> database gets its name: a state
 *
 * Until the last file has its name there is no state that a daemon would start with. A crash before leaves the mark, or the
 * database without its name: a further restore clears the folder and begins anew. A whole state has neither, so that no later
 * restore takes it for one that was cut off, even when its database is lost.
 */
import { chmodSync, lstatSync, realpathSync, type Stats, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { filedMode } from "../inbound/places/copy-mode.ts";
import { isBelowFolder } from "../inbound/places/locations.ts";
import type { Clock } from "../lib/clock.ts";
import { unlessMissing } from "../lib/errors.ts";
import { copyFileSync, mkdirSync, rename, rm, utimesSync } from "../lib/files/changes.ts";
import { makeDirectoryDurably, syncDirectory, writeFileDurably } from "../lib/files/durable-file.ts";
import { entriesOf } from "../lib/files/entries-of.ts";
import { newGuid } from "../lib/ids.ts";
import { OperatorError } from "../lib/operator-error.ts";
import { databaseFileName, markerFileName } from "../store/database/database.ts";
import { lockOrRefuse } from "../store/database/process-lock.ts";
import { makeOwnInstance, openStoredCopy } from "../store/database/stored-copy.ts";
import { type DeliveryHold, deliveryHoldKey } from "../store/outbound/delivery-hold.ts";
import { findBackup, type Manifest, readList, readManifest, stateName } from "./backup-folder.ts";
import { discrepancyTexts, proveLedger } from "./prove-copy.ts";
import { syncAll } from "./sync-all.ts";
import { hashFile } from "./take-files.ts";

/** Holds the instance that the state gets. */
const markName = "dropgate.restoring";
const lockName = "dropgate.restore.lock";
/** The database until all else is in its place. */
const unnamedDatabase = "dropgate.db.restoring";
/** Of the file system itself, where the folder is a mount point. */
const foreignName = "lost+found";

export interface RestoredState {
  readonly backup: string;
  readonly manifest: Manifest;
  readonly stateDir: string;
  readonly instance: string;
  readonly hold: DeliveryHold;
  /** Whether the ledger was proved: not where the schema is older than this program. */
  readonly isProved: boolean;
  /** What lies in `outbound/` of companies as it did then, by its paths in the state: hosts may have collected it since. */
  readonly outbound: readonly string[];
}

export type RestoreProgress = (progress: { readonly done: number; readonly total: number }) => void;

async function textOf(path: string): Promise<string | undefined> {
  return (await readFile(path, "utf8").catch(unlessMissing))?.trim();
}

/** Whether what lies there is of a restore that was cut off, or of one that is running. */
async function isBegun(stateDir: string, names: readonly string[]): Promise<boolean> {
  if (names.includes(databaseFileName)) return false;
  if (!names.includes(markName)) {
    // One that died while it made its mark leaves the mark's temporary name, and nothing else.
    return names.includes(unnamedDatabase) || names.every((name) => name.startsWith(`.${markName}.`));
  }
  const marker = await textOf(join(stateDir, markerFileName));
  return marker === undefined || marker === (await textOf(join(stateDir, markName)));
}

/** Whether a restore to the folder was cut off, or runs: what lies there is no state yet. */
export async function isRestoreOpen(stateDir: string): Promise<boolean> {
  const names = (await entriesOf(stateDir)).map(({ name }) => name);
  return names.includes(markName) || names.includes(unnamedDatabase);
}

/** What an interrupted restore has left in the folder. Throws when something else lies there. */
async function findLeft(stateDir: string): Promise<readonly string[]> {
  const notOurs = [foreignName, lockName];
  const names = (await entriesOf(stateDir)).map(({ name }) => name).filter((name) => !notOurs.includes(name));
  if (names.length === 0 || (await isBegun(stateDir, names))) return names;
  const remedy = "move it away first, or name another folder";
  throw new OperatorError(`${stateDir} is not empty; a restore changes no state that is there: ${remedy}`);
}

/** The mark last: it says that all of this may go. */
async function clear(stateDir: string): Promise<void> {
  const left = await findLeft(stateDir);
  const marks = [unnamedDatabase, markName].filter((name) => left.includes(name));
  for (const name of [...left.filter((one) => !marks.includes(one)), ...marks])
    await rm(join(stateDir, name), { recursive: true, force: true });
}

/** Two restores to a folder would each remove what the other one writes; the lock goes with its process. */
function lockRestores(stateDir: string): { release(): void } {
  const message = `another restore to ${stateDir} is running: wait until it is done, or name another folder`;
  return lockOrRefuse(join(stateDir, lockName), () => message);
}

interface Copying {
  readonly folder: string;
  readonly stateDir: string;
  readonly list: ReadonlyMap<string, string>;
  readonly onProgress?: RestoreProgress | undefined;
}

interface FileToRestore {
  /** In the state. */
  readonly own: string;
  readonly path: string;
  readonly from: string;
  readonly sha256: string;
  readonly stats: Stats;
}

/** The files of the state, those that have arrived at the end, as listed: oldest first. Throws when one is no regular file. */
function filesOf({ folder, list }: Copying): readonly FileToRestore[] {
  const found: FileToRestore[] = [];
  for (const [path, sha256] of list) {
    const own = path.slice(stateName.length + 1);
    // The marker belongs to the instance that was backed up.
    if (!path.startsWith(`${stateName}/`) || own === markerFileName) continue;
    const from = join(folder, path);
    const stats = lstatSync(from, { throwIfNoEntry: false });
    if (stats?.isFile() !== true)
      throw new OperatorError(
        `${path} is missing in the backup ${folder}, or no regular file: restore another one`,
      );
    found.push({ own, path, from, sha256, stats });
  }
  const isArrival = ({ own }: FileToRestore) => isBelowFolder(own, "inbound");
  return [...found.filter((one) => !isArrival(one)), ...found.filter(isArrival)];
}

/** Makes the folder of a file; the one that it is copied from must not lead out of the backup. */
function makeFolder({ folder }: Copying, { path, from, own }: FileToRestore, to: string): void {
  if (realpathSync(dirname(from)) !== join(realpathSync(folder), dirname(path)))
    throw new OperatorError(`${dirname(path)} leads out of the backup ${folder}: restore another one`);
  mkdirSync(dirname(to), { recursive: true, mode: own.startsWith("keys/") ? 0o700 : 0o750 });
}

const pauseMs = 1;
/** Some file systems have times of whole seconds. */
const mostPauses = 3_000;

/** Gives the copy the time of the file, and a moment of change after `since`: by it files are taken in their order. */
function keepTimes(to: string, { atimeMs, mtimeMs }: Stats, since: bigint): bigint {
  for (let pauses = 0; pauses < mostPauses; pauses += 1) {
    utimesSync(to, atimeMs / 1000, mtimeMs / 1000);
    const { ctimeNs } = statSync(to, { bigint: true });
    if (ctimeNs > since) return ctimeNs;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
  }
  throw new OperatorError("the clock was set back during the restore: restore once more when it is right");
}

/** Copies what belongs to the state, and reads each copy again. Gives the files by their paths in it. */
function copyFiles(copying: Copying) {
  const { folder, stateDir, onProgress } = copying;
  const made = new Set<string>();
  const files = new Map<string, ReturnType<typeof hashFile>>();
  const toRestore = filesOf(copying);
  let changedAt = 0n;
  for (const [index, file] of toRestore.entries()) {
    const { own, path, from, sha256, stats } = file;
    const to = join(stateDir, own === databaseFileName ? unnamedDatabase : own);
    if (!made.has(dirname(to))) makeFolder(copying, file, to);
    made.add(dirname(to));
    copyFileSync(from, to);
    // The daemon refuses keys that others can read.
    if (own.startsWith("keys/")) chmodSync(to, 0o600);
    const isArrival = isBelowFolder(own, "inbound");
    // The order of all that had arrived is that of this restore, which a copy would not go by.
    if (isArrival) chmodSync(to, filedMode);
    const at = keepTimes(to, stats, isArrival ? changedAt : 0n);
    if (isArrival) changedAt = at;
    const hashed = hashFile(to);
    if (hashed.sha256 !== sha256)
      throw new OperatorError(`${path} is damaged in the backup ${folder}: restore another one`);
    files.set(own, hashed);
    onProgress?.({ done: index + 1, total: toRestore.length });
  }
  return files;
}

/** Throws when database and files disagree about more than they did when the backup was taken. */
async function prove(
  { stateDir }: Copying,
  files: ReadonlyMap<string, ReturnType<typeof hashFile>>,
  { discrepancies, name }: Manifest,
): Promise<boolean> {
  const copy = openStoredCopy(join(stateDir, unnamedDatabase));
  try {
    const fault = copy.schemaFault ?? copy.damage()[0];
    if (fault !== undefined)
      throw new OperatorError(`the database of the backup ${name} cannot be used: ${fault}`);
    if (!copy.isCurrent) return false;
    const known = new Set(discrepancies);
    const report = await proveLedger({ stateDir, copy: copy.read, files });
    const [first] = discrepancyTexts(report).filter((text) => !known.has(text));
    if (first === undefined) return true;
    throw new OperatorError(
      `ledger and files of the backup ${name} disagree (${first}): restore another one`,
    );
  } finally {
    copy.close();
  }
}

/** The mark goes before the database gets its name, and with it becomes a state: none has both. */
async function finish(stateDir: string, instance: string, paths: Iterable<string>): Promise<void> {
  const written = [...paths].map((path) => (path === databaseFileName ? unnamedDatabase : path));
  await syncAll(stateDir, written);
  await writeFileDurably(join(stateDir, markerFileName), `${instance}\n`);
  await rm(join(stateDir, markName));
  await syncDirectory(stateDir);
  await rename(join(stateDir, unnamedDatabase), join(stateDir, databaseFileName));
  await syncDirectory(stateDir);
}

interface RestoreOptions {
  readonly clock: Clock;
  readonly onProgress?: RestoreProgress | undefined;
}

async function restoreLocked(
  folder: string,
  stateDir: string,
  { clock, onProgress }: RestoreOptions,
): Promise<RestoredState> {
  const manifest = await readManifest(folder);
  const list = await readList(folder, manifest);
  await clear(stateDir);
  const instance = newGuid();
  await writeFileDurably(join(stateDir, markName), `${instance}\n`);
  const copying: Copying = { folder, stateDir, list, onProgress };
  const files = copyFiles(copying);
  if (!files.has(databaseFileName))
    throw new OperatorError(`the backup ${folder} has no database: restore another one`);
  const isProved = await prove(copying, files, manifest);
  const { name, begunAt, lastReceivedAt } = manifest;
  const hold: DeliveryHold = {
    restoredAt: clock.now(),
    backup: name,
    sendAgainFrom: begunAt,
    lastReceivedAt,
  };
  // What was noted of backups of the other instance says nothing about this one.
  const facts = { [deliveryHoldKey]: JSON.stringify(hold), last_backup: null, backup_state: null };
  makeOwnInstance(join(stateDir, unnamedDatabase), instance, facts);
  await finish(stateDir, instance, files.keys());
  const outbound = [...files.keys()].filter((path) => isBelowFolder(path, "outbound"));
  return { backup: folder, manifest, stateDir, instance, hold, isProved, outbound };
}

/** Restores the backup, or the newest of a folder of backups of one instance, to `stateDir`. */
export async function restoreBackup(
  path: string,
  stateDir: string,
  options: RestoreOptions,
): Promise<RestoredState> {
  const folder = await findBackup(path, { clock: options.clock });
  await makeDirectoryDurably(stateDir);
  await findLeft(stateDir);
  const lock = lockRestores(stateDir);
  try {
    const restored = await restoreLocked(folder, stateDir, options);
    // Nobody restores to a whole state: without its lock nobody is in the way of another.
    await rm(join(stateDir, lockName));
    return restored;
  } finally {
    lock.release();
  }
}
