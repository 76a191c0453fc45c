/**
 * Takes a backup of a state, whether a daemon works on it or not.
 *
 *   lock ──> NAME.part made ──> database copied ──> files gathered ──> copy proved ──> manifest, all synced ──> named NAME
 *
 * A crash before the last step leaves a `.part`, which the next backup removes. When the database names bytes that a user has
 * removed since it was copied, it is copied anew.
 */
import { hash } from "node:crypto";
import { join } from "node:path";
import { createLocations } from "../inbound/places/locations.ts";
import type { Clock } from "../lib/clock.ts";
import { messageOf, systemCodeOf } from "../lib/errors.ts";
import { mkdir, rename, writeFile } from "../lib/files/changes.ts";
import { makeDirectoryDurably, syncDirectory } from "../lib/files/durable-file.ts";
import { removeFolder } from "../lib/files/remove-folder.ts";
import { OperatorError } from "../lib/operator-error.ts";
import { listCompanies } from "../store/accounts/companies.ts";
import { databaseFileName, markerFileName, type Store } from "../store/database/database.ts";
import { findHungBackup, type HungBackup } from "../store/database/backup-state.ts";
import { type LastBackup, noteLastBackup } from "../store/database/last-backup.ts";
import { isLockTaken, lockOrRefuse } from "../store/database/process-lock.ts";
import { copyStore, openStoredCopy, type StoredCopy } from "../store/database/stored-copy.ts";
import { findLastReceived } from "../store/ledger/backup-queries.ts";
import {
  backupName,
  configurationName,
  formatList,
  listBackups,
  listName,
  type Manifest,
  manifestName,
  newManifest,
  partEnding,
  readList,
  readManifest,
  removeParts,
  stateName,
} from "./backup-folder.ts";
import { CopyOutdated, findLostContents, gatherState } from "./gather-state.ts";
import { lookAround } from "./look-around.ts";
import { discrepancyTexts, lostTexts, proveLedger } from "./prove-copy.ts";
import { syncAll } from "./sync-all.ts";
import { FileTaker, hashFile, type PreviousBackup } from "./take-files.ts";
import { counted } from "../lib/counted.ts";

export type BackupStep = "database" | "files" | "proof" | "disk" | "removal";

export interface BackupProgress {
  readonly step: BackupStep;
  readonly done: number;
  /** Of a removal, as many as are done: how many there are is not counted before. */
  readonly total: number;
}

export interface BackupOrder {
  /** Absolute, without links. */
  readonly stateDir: string;
  /** Of the state. */
  readonly instance: string;
  /** The folder of backups; made when it is not there. */
  readonly destination: string;
  /** Shares the files that have not changed with the newest backup there. */
  readonly isIncremental: boolean;
  /** Within how many such backups each shared file is read again; 0 for never. */
  readonly rereadWithin: number;
  /** What goes into `configuration/`, by names. */
  readonly configuration: ReadonlyMap<string, string>;
  /** Of the program. */
  readonly version: string;
}

export interface BackupDeps {
  /** The state that is backed up. */
  readonly store: Pick<Store, "read" | "write">;
  readonly clock: Clock;
  readonly onProgress?: ((progress: BackupProgress) => void) | undefined;
  readonly onWarning: (text: string) => void;
}

export interface TakenBackup {
  readonly folder: string;
  readonly manifest: Manifest;
}

/** Tells of each file of an old backup, or of one that was interrupted, that it is removed. */
export function tellRemoved(onProgress: BackupDeps["onProgress"]): () => void {
  let done = 0;
  return () => {
    done += 1;
    onProgress?.({ step: "removal", done, total: done });
  };
}

const lockName = "dropgate.backup.lock";
const mostCopies = 5;

/**
 * Two backups of a state at once would disturb each other; the lock goes with its process. When another process has it, the
 * error says what `hung` does, if one hangs.
 */
export function lockBackups(stateDir: string, hung?: HungBackup): { release(): void } {
  const other = `another backup of ${stateDir} is being made at this moment: wait until it is done`;
  const message = hung?.message ?? other;
  return lockOrRefuse(join(stateDir, lockName), () => message);
}

/** Whether a backup of that state is being made at this moment: what it names must not be removed meanwhile. */
export function isBackupRunning(stateDir: string): boolean {
  return isLockTaken(join(stateDir, lockName));
}

/** Makes the folder of a new backup; of two within a thousandth of a second, the later one gets the next name. */
async function makePart(
  { destination, instance }: BackupOrder,
  clock: Clock,
): Promise<{ readonly name: string; readonly begunAt: number; readonly part: string }> {
  const taken = new Set((await listBackups(destination)).map(({ name }) => name));
  for (let begunAt = clock.now(); ; begunAt += 1) {
    const name = backupName(begunAt, instance);
    if (taken.has(name)) continue;
    const part = join(destination, name + partEnding);
    await mkdir(part, { mode: 0o750 });
    return { name, begunAt, part };
  }
}

interface BaseBackup extends PreviousBackup {
  readonly name: string;
  /** Which part of what is shared with it is read again; null for none. */
  readonly rereadPart: number | null;
}

/** The part after that of the backup before, so that all parts have their turn, however often backups are made. */
function nextPart({ rereadPart }: Manifest, parts: number): number | null {
  return parts === 0 ? null : ((rereadPart ?? -1) + 1) % parts;
}

/** As good as drawn at random, and the same for a content each time. */
function partOf(sha256: string, parts: number): number {
  return Number.parseInt(sha256.slice(0, 8), 16) % parts;
}

async function readBase(folder: string, name: string, rereadWithin: number): Promise<BaseBackup> {
  const manifest = await readManifest(folder);
  const rereadPart = nextPart(manifest, rereadWithin);
  return {
    ...{ name, rereadPart, state: join(folder, stateName), hashes: await hashesIn(folder, manifest) },
    isReread: (sha256) => rereadPart !== null && partOf(sha256, rereadWithin) === rereadPart,
  };
}

/** The newest backup of the instance whose files can be shared; those that cannot be read are passed over with a warning. */
async function previousOf(
  { destination, instance, isIncremental, rereadWithin }: BackupOrder,
  { onWarning }: BackupDeps,
): Promise<BaseBackup | undefined> {
  if (!isIncremental) return undefined;
  const faults: string[] = [];
  let previous: BaseBackup | undefined;
  for (const { name, folder } of (await listBackups(destination, instance)).toReversed()) {
    try {
      previous = await readBase(folder, name, rereadWithin);
      break;
    } catch (error) {
      faults.push(`${name}: ${messageOf(error)}`);
    }
  }
  const instead = previous === undefined ? "it is a full one" : `it shares those of ${previous.name}`;
  const [first] = faults;
  if (first !== undefined)
    onWarning(
      `the newest backup cannot be read, so the new one shares no files with it (${first}): ${instead}`,
    );
  return previous;
}

/** Of the files of its state, by their paths in that. */
async function hashesIn(folder: string, manifest: Manifest): Promise<ReadonlyMap<string, string>> {
  const list = await readList(folder, manifest);
  const inState = `${stateName}/`;
  const hashes = [...list].filter(([path]) => path.startsWith(inState));
  return new Map(hashes.map(([path, sha256]) => [path.slice(inState.length), sha256]));
}

interface Work {
  readonly order: BackupOrder;
  readonly deps: BackupDeps;
  readonly part: string;
  readonly previous: PreviousBackup | undefined;
}

/** A copy of the database, and all files that belong to it. */
async function gatherOnce({ order, deps, part, previous }: Work) {
  const { stateDir } = order;
  const { store, onProgress } = deps;
  const state = join(part, stateName);
  await removeFolder(state, tellRemoved(onProgress));
  await mkdir(state, { mode: 0o750 });
  const codes = (await listCompanies(store.read)).map(({ code }) => code);
  const locations = createLocations(stateDir);
  const before = await lookAround(store.read, locations, codes);
  const database = join(state, databaseFileName);
  await copyStore(stateDir, database, (pages) => onProgress?.({ step: "database", ...pages }));
  const copy = openStoredCopy(database);
  const taker = new FileTaker(state, previous);
  try {
    await gatherState({
      ...{ locations, live: store.read, copy: copy.read, taker, before },
      onProgress: (files) => onProgress?.({ step: "files", ...files }),
    });
  } catch (error) {
    copy.close();
    throw error;
  }
  taker.files.set(databaseFileName, hashFile(database));
  taker.take({ path: markerFileName, from: join(stateDir, markerFileName) });
  return { copy, taker };
}

async function gather(work: Work): Promise<{ readonly copy: StoredCopy; readonly taker: FileTaker }> {
  for (let copies = 1; ; copies += 1) {
    try {
      return await gatherOnce(work);
    } catch (error) {
      if (!(error instanceof CopyOutdated)) throw error;
      if (copies < mostCopies) continue;
      const often = `files were removed from ${work.order.stateDir} while it was copied, ${copies} times in a row`;
      const remedy = "make it again when users do not remove files";
      throw new OperatorError(`${often} (${error.message}): no backup was made; ${remedy}`, { cause: error });
    }
  }
}

function refuseDamaged(copy: StoredCopy): void {
  const [damage] = copy.damage();
  if (damage === undefined) return;
  const remedy = "see `dropgate check`, and keep the backups that there are";
  throw new OperatorError(`the database is damaged (${damage}): no backup was made; ${remedy}`);
}

async function writeConfiguration(
  part: string,
  configuration: BackupOrder["configuration"],
): Promise<Map<string, string>> {
  const folder = join(part, configurationName);
  await mkdir(folder, { mode: 0o750 });
  const hashes = new Map<string, string>();
  for (const [name, text] of configuration) {
    await writeFile(join(folder, name), text, { mode: 0o640, flag: "wx" });
    hashes.set(`${configurationName}/${name}`, hash("sha256", text, "hex"));
  }
  return hashes;
}

async function finish(
  { part, order, deps }: Work,
  { copy, taker }: Awaited<ReturnType<typeof gather>>,
  facts: Pick<Manifest, "name" | "begunAt" | "base" | "rereadPart">,
): Promise<Manifest> {
  deps.onProgress?.({ step: "proof", done: 0, total: 1 });
  refuseDamaged(copy);
  const report = await proveLedger({ stateDir: join(part, stateName), copy: copy.read, files: taker.files });
  const lost = lostTexts(await findLostContents(copy.read, taker));
  const inState = [...taker.files].map(([path, { sha256 }]) => [`${stateName}/${path}`, sha256] as const);
  const list = new Map([...inState, ...(await writeConfiguration(part, order.configuration))]);
  const text = formatList(list);
  await writeFile(join(part, listName), text, { mode: 0o640, flag: "wx" });
  const manifest = newManifest({
    ...facts,
    ...{ instance: order.instance, schema: copy.schema, version: order.version },
    endedAt: deps.clock.now(),
    lastReceivedAt: (await findLastReceived(copy.read)) ?? null,
    files: list.size,
    bytes: [...taker.files.values()].reduce((sum, { size }) => sum + size, 0),
    ...{ shared: taker.shared, reread: taker.reread, ledgerEntries: report.entries },
    discrepancies: [...discrepancyTexts(report), ...lost],
    list: hash("sha256", text, "hex"),
  });
  // As a restore reads it: throws when it says anything else.
  await readList(part, manifest);
  await writeFile(join(part, manifestName), `${JSON.stringify(manifest, null, 2)}\n`, {
    mode: 0o640,
    flag: "wx",
  });
  deps.onProgress?.({ step: "disk", done: 0, total: 1 });
  await syncAll(part, [...list.keys(), listName, manifestName], (files) =>
    deps.onProgress?.({ step: "disk", ...files }),
  );
  return manifest;
}

const fullCodes: readonly unknown[] = ["ENOSPC", "EDQUOT"];

/** What to do when the folder of backups is full; other errors as they are. */
function explainFull(error: unknown, destination: string): unknown {
  if (!fullCodes.includes(systemCodeOf(error))) return error;
  const remedy = "remove backups that are not needed, or name a folder on a larger disk";
  const message = `no space is left in ${destination} (${messageOf(error)}): no backup was made; ${remedy}`;
  return new OperatorError(message, { cause: error });
}

function warnOfDamaged(
  { damagedBefore, files }: FileTaker,
  base: string | undefined,
  { onWarning }: BackupDeps,
): void {
  const all = [...damagedBefore];
  const isWhole = ([path, sha256]: readonly [string, string]) => files.get(path)?.sha256 === sha256;
  const kinds = [
    [all.filter(isWhole), "it was taken anew from the state; verify the older backups, and see to the disk"],
    [
      all.filter((one) => !isWhole(one)),
      "the state has the same damage: restore it from an older backup on another disk, and see to the disk",
    ],
  ] as const;
  for (const [found, remedy] of kinds) {
    const [first] = found;
    if (first === undefined) continue;
    const count = counted(found.length, "file is", "files are");
    onWarning(`${count} damaged in the backup ${base} and those that share it (${first[0]}): ${remedy}`);
  }
}

async function takeLocked(order: BackupOrder, deps: BackupDeps): Promise<TakenBackup> {
  const { destination, instance } = order;
  await removeParts(destination, instance, tellRemoved(deps.onProgress));
  const previous = await previousOf(order, deps);
  const { part, name, begunAt } = await makePart(order, deps.clock);
  try {
    const work: Work = { order, deps, part, previous };
    const gathered = await gather(work);
    try {
      warnOfDamaged(gathered.taker, previous?.name, deps);
      const [base, rereadPart] = [previous?.name ?? null, previous?.rereadPart ?? null];
      const manifest = await finish(work, gathered, { name, begunAt, base, rereadPart });
      const folder = join(destination, name);
      await rename(part, folder);
      await syncDirectory(destination);
      return { folder, manifest };
    } finally {
      gathered.copy.close();
    }
  } catch (error) {
    await removeFolder(part, tellRemoved(deps.onProgress));
    throw explainFull(error, destination);
  }
}

async function makeDestination(destination: string): Promise<void> {
  try {
    await makeDirectoryDurably(destination);
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    const remedy = "let the owner of the state directory write there, or name another folder";
    throw new OperatorError(`backups cannot be kept in ${destination} (${messageOf(error)}): ${remedy}`, {
      cause: error,
    });
  }
}

async function note({ store }: BackupDeps, { manifest, folder }: TakenBackup): Promise<void> {
  const { begunAt, endedAt, files, bytes, discrepancies } = manifest;
  const last: LastBackup = { folder, begunAt, endedAt, files, bytes, discrepancies: discrepancies.length };
  await store.write("unowned", (tx) => noteLastBackup(tx, last));
}

/** Takes a backup; it is whole and durable when the promise resolves. */
export async function takeBackup(order: BackupOrder, deps: BackupDeps): Promise<TakenBackup> {
  await makeDestination(order.destination);
  const lock = lockBackups(order.stateDir, await findHungBackup(deps.store.read));
  try {
    const taken = await takeLocked(order, deps);
    await note(deps, taken);
    return taken;
  } finally {
    lock.release();
  }
}
