/**
 * Restores a backup to a state directory that is not there, or empty.
 *
 *   marked by `dropgate.restoring` ──> files copied, each hashed ──> database of its own instance, deliveries held
 *   ──> marker of the instance ──> database gets its name: a state ──> mark removed
 *
 * Until the last file has its name there is no state that a daemon would start with. A crash before leaves the mark: a further
 * restore clears the folder and begins anew.
 */
import { dirname, join } from "node:path";
import type { Clock } from "../lib/clock.ts";
import { copyFileSync, mkdirSync, rename, rm } from "../lib/files/changes.ts";
import { makeDirectoryDurably, syncDirectory, writeFileDurably } from "../lib/files/durable-file.ts";
import { entriesOf } from "../lib/files/entries-of.ts";
import { syncFileSystems } from "../lib/files/sync-file-system.ts";
import { newGuid } from "../lib/ids.ts";
import { OperatorError } from "../lib/operator-error.ts";
import { databaseFileName, findState, markerFileName } from "../store/database/database.ts";
import { makeOwnInstance, openStoredCopy } from "../store/database/stored-copy.ts";
import { type DeliveryHold, deliveryHoldKey } from "../store/outbound/delivery-hold.ts";
import { findBackup, type Manifest, readList, readManifest, stateName } from "./backup-folder.ts";
import { discrepancyTexts, proveLedger } from "./prove-copy.ts";
import { hashFile } from "./take-files.ts";

const markName = "dropgate.restoring";
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
}

export type RestoreProgress = (progress: { readonly done: number; readonly total: number }) => void;

/** Refuses a folder in which something lies; clears what an interrupted restore has left. */
async function prepareFolder(stateDir: string): Promise<void> {
  await makeDirectoryDurably(stateDir);
  const names = (await entriesOf(stateDir)).map(({ name }) => name).filter((name) => name !== foreignName);
  // One that died while it made its mark leaves the mark's temporary name, and nothing else.
  const isBegun = names.includes(markName) || names.every((name) => name.startsWith(`.${markName}.`));
  if (names.length === 0) return;
  if (!isBegun || findState(stateDir) === "there") {
    const remedy = "move it away first, or name another folder";
    throw new OperatorError(`${stateDir} is not empty; a restore changes no state that is there: ${remedy}`);
  }
  // The mark last: it says that all of this may go.
  for (const name of [...names.filter((one) => one !== markName), markName])
    await rm(join(stateDir, name), { recursive: true, force: true });
}

interface Copying {
  readonly folder: string;
  readonly stateDir: string;
  readonly list: ReadonlyMap<string, string>;
  readonly onProgress?: RestoreProgress | undefined;
}

/** Copies what belongs to the state, and reads each copy again. Gives the files by their paths in it. */
function copyFiles({ folder, stateDir, list, onProgress }: Copying) {
  const made = new Set<string>();
  const files = new Map<string, ReturnType<typeof hashFile>>();
  let done = 0;
  for (const [path, sha256] of list) {
    done += 1;
    onProgress?.({ done, total: list.size });
    if (!path.startsWith(`${stateName}/`)) continue;
    const own = path.slice(stateName.length + 1);
    // The marker belongs to the instance that was backed up.
    if (own === markerFileName) continue;
    const to = join(stateDir, own === databaseFileName ? unnamedDatabase : own);
    if (!made.has(dirname(to))) mkdirSync(dirname(to), { recursive: true, mode: 0o750 });
    made.add(dirname(to));
    copyFileSync(join(folder, path), to);
    const hashed = hashFile(to);
    if (hashed.sha256 !== sha256)
      throw new OperatorError(`${path} is damaged in the backup ${folder}: restore another one`);
    files.set(own, hashed);
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

/** The database gets its name last: with it the state is there. */
async function finish(stateDir: string, instance: string): Promise<void> {
  await syncFileSystems([stateDir]);
  await writeFileDurably(join(stateDir, markerFileName), `${instance}\n`);
  await rename(join(stateDir, unnamedDatabase), join(stateDir, databaseFileName));
  await syncDirectory(stateDir);
  await rm(join(stateDir, markName));
  await syncDirectory(stateDir);
}

/** Restores the backup, or the newest of a folder of backups, to `stateDir`. */
export async function restoreBackup(
  path: string,
  stateDir: string,
  { clock, onProgress }: { readonly clock: Clock; readonly onProgress?: RestoreProgress | undefined },
): Promise<RestoredState> {
  const folder = await findBackup(path);
  const manifest = await readManifest(folder);
  const list = await readList(folder, manifest);
  await prepareFolder(stateDir);
  await writeFileDurably(join(stateDir, markName), `${manifest.name}\n`);
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
  const instance = newGuid();
  makeOwnInstance(join(stateDir, unnamedDatabase), instance, { [deliveryHoldKey]: JSON.stringify(hold) });
  await finish(stateDir, instance);
  return { backup: folder, manifest, stateDir, instance, hold, isProved };
}
