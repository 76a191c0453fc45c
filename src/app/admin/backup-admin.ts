/** Backups of a state, and what is restored from one, as the commands of an administrator see them. */
import { readFile, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { findBackup, listBackups, type Manifest, removeBackup } from "../../backup/backup-folder.ts";
import { outdatedBackups } from "../../backup/keep-rules.ts";
import { restoreBackup, type RestoreProgress } from "../../backup/restore-backup.ts";
import { type BackupProgress, lockBackups, takeBackup, tellRemoved } from "../../backup/take-backup.ts";
import { verifyBackup, type VerifyFilesProgress } from "../../backup/verify-backup.ts";
import { isWithin } from "../../config/rules/rule-fault.ts";
import { systemClock } from "../../lib/clock.ts";
import { messageOf, unlessMissing } from "../../lib/errors.ts";
import { isoOrNull, isoTime } from "../../lib/iso-time.ts";
import { OperatorError } from "../../lib/operator-error.ts";
import { markerFileName, stateFault } from "../../store/database/database.ts";
import { inspectStore } from "../../store/database/inspect-store.ts";
import type { BackupConfig } from "../watch/backup-task.ts";
import { sendAgainText } from "../watch/delivery-hold-watch.ts";
import { becomeOwnerOf, findStore, withAdminStore } from "./admin-store.ts";
import { WrongUseError } from "./wrong-use-error.ts";

export type BackupProgressView = BackupProgress;

export interface BackupRequest {
  /** Else the one of the configuration. */
  readonly destination?: string | undefined;
  /** Else as the configuration says, in its folder; elsewhere not. */
  readonly isIncremental?: boolean | undefined;
  /** The file that the configuration was read from. */
  readonly configFile: string;
  /** Of the program. */
  readonly version: string;
  readonly onProgress?: ((progress: BackupProgress) => void) | undefined;
  /** Hears of the backup when it is whole and noted, before older ones are removed: that may take long, or fail. */
  readonly onMade?: ((made: BackupOutcome) => void) | undefined;
}

/** A backup as commands show it; times are ISO, UTC. */
function toView(folder: string, manifest: Manifest) {
  const { format: _format, list: _list, begunAt, endedAt, lastReceivedAt, ...rest } = manifest;
  return {
    folder,
    ...rest,
    begunAt: isoTime(begunAt),
    endedAt: isoTime(endedAt),
    lastReceivedAt: isoOrNull(lastReceivedAt),
  };
}

export type BackupView = Readonly<ReturnType<typeof toView>>;

export interface BackupOutcome extends BackupView {
  /** What of the configuration could not be read, and is not in it. */
  readonly leftOut: readonly string[];
  /** What the backup is not as it was meant to be, whole as it is. */
  readonly warnings: readonly string[];
  /** Older backups that the rules of the configuration keep no longer. */
  readonly removed: readonly string[];
  /** Why those that no rule keeps could not be removed; the next backup tries it again. */
  readonly notRemoved?: string;
}

/** What a restore has no other copy of: the configuration, and the expressions that it names. */
async function readConfiguration(
  { integrations }: BackupConfig,
  configFile: string,
): Promise<{ readonly texts: ReadonlyMap<string, string>; readonly leftOut: readonly string[] }> {
  const named = Object.entries(integrations).map(([name, { file }]) => [`integration-${name}.jsonata`, file]);
  const texts = new Map<string, string>();
  const leftOut: string[] = [];
  for (const [name = "", file = ""] of [["dropgate.yaml", configFile], ...named]) {
    try {
      texts.set(name, await readFile(file, "utf8"));
    } catch (error) {
      leftOut.push(messageOf(error));
    }
  }
  return { texts, leftOut };
}

/** The instance of a state whose schema is that of this version: a backup migrates nothing. */
async function currentInstance(stateDir: string): Promise<string> {
  const presence = findStore({ stateDir });
  if (presence !== "there") throw new WrongUseError(stateFault(stateDir, presence));
  const found = await inspectStore({ stateDir });
  if (found.kind === "absent") throw new WrongUseError(stateFault(stateDir, "none"));
  const { schemaFault, isOutdated, instanceId } = found;
  if (schemaFault !== undefined) throw new OperatorError(schemaFault);
  if (!isOutdated && instanceId !== undefined) return instanceId;
  throw new OperatorError(
    "the database is of an older version: make the backup with the version that it belongs to; or start dropgate, " +
      "which copies the database before it migrates it, and make the backup then",
  );
}

type Removal = Pick<BackupOutcome, "removed" | "notRemoved">;

/** Removes what no rule keeps, unless the new backup has less than the state ought to have. The new one is there, whatever fails. */
async function removeOutdated(
  config: BackupConfig,
  { folder, manifest }: { readonly folder: string; readonly manifest: Manifest },
  removedOne: () => void,
): Promise<Removal> {
  const { keep, zone } = config.backup;
  const removed: string[] = [];
  if (manifest.discrepancies.length > 0) return { removed };
  try {
    const lock = lockBackups(config.stateDir);
    try {
      const backups = await listBackups(folder, manifest.instance);
      for (const outdated of outdatedBackups(backups, { ...keep, zone }, manifest.begunAt)) {
        await removeBackup(outdated, removedOne);
        removed.push(outdated.name);
      }
    } finally {
      lock.release();
    }
    return { removed };
  } catch (error) {
    return { removed, notRemoved: messageOf(error) };
  }
}

function requireFolder({ backup }: BackupConfig, destination = backup.folder): string {
  if (destination !== undefined) return destination;
  throw new WrongUseError("name the folder of backups, or set backup.folder");
}

/** Where a path leads that may not be there yet, without links. Where that cannot be seen, nothing can be made either. */
async function realPathOf(path: string): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  return real ?? join(await realPathOf(dirname(path)), basename(path));
}

/** A backup in the state would be a part of it; a state in a backup would be removed with it. */
async function refuseOverlap(stateDir: string, backups: string): Promise<void> {
  const [state, folder] = [await realPathOf(stateDir), await realPathOf(backups)];
  if (!isWithin(state, folder) && !isWithin(folder, state)) return;
  throw new WrongUseError(
    `${backups} overlaps with the state directory ${stateDir}: name a folder outside of it`,
  );
}

function refuseServer({ store }: BackupConfig): void {
  if (store === undefined) return;
  throw new WrongUseError(
    "`store` names a database on PostgreSQL, which dropgate does not back up: back it up with PostgreSQL's own tools " +
      "(pg_basebackup with WAL archiving), and the state directory after it",
  );
}

/** Takes a backup of the state; in the folder of the configuration its rules decide which older ones stay. */
export async function backUp(config: BackupConfig, request: BackupRequest): Promise<BackupOutcome> {
  refuseServer(config);
  const { version, configFile, onProgress } = request;
  const destination = requireFolder(config, request.destination);
  const isOwnFolder = destination === config.backup.folder;
  const { isIncremental = isOwnFolder && config.backup.incremental } = request;
  // Before this process becomes the owner of the state, who may not be allowed to read it.
  const { texts, leftOut } = await readConfiguration(config, configFile);
  await becomeOwnerOf(config.stateDir);
  const stateDir = (await realpath(config.stateDir).catch(unlessMissing)) ?? config.stateDir;
  await refuseOverlap(stateDir, destination);
  const instance = await currentInstance(stateDir);
  const { rereadWithin } = config.backup;
  const order = {
    ...{ stateDir, instance, destination, isIncremental, rereadWithin },
    ...{ configuration: texts, version },
  };
  const warnings: string[] = [];
  const onWarning = (text: string) => void warnings.push(text);
  const { folder, manifest } = await withAdminStore(config, (store) =>
    takeBackup(order, { store, clock: systemClock, onProgress, onWarning }),
  );
  const made = { ...toView(folder, manifest), leftOut, warnings, removed: [] };
  request.onMade?.(made);
  if (!isOwnFolder) return made;
  const backups = { folder: destination, manifest };
  return { ...made, ...(await removeOutdated({ ...config, stateDir }, backups, tellRemoved(onProgress))) };
}

export interface VerifiedBackupView extends BackupView {
  /** What is wrong with it; empty for one that can be restored. */
  readonly faults: readonly string[];
  /** Whether the ledger was proved too. */
  readonly isProved: boolean;
}

/** Verifies a backup, or the newest of a folder: where there is a state, the newest of that. */
export async function verifyBackupIn(
  config: BackupConfig,
  path: string | undefined,
  onProgress?: VerifyFilesProgress,
): Promise<VerifiedBackupView> {
  const marker = await readFile(join(config.stateDir, markerFileName), "utf8").catch(unlessMissing);
  const found = await findBackup(requireFolder(config, path), { instance: marker?.trim() });
  const { folder, manifest, faults, isProved } = await verifyBackup(found, onProgress);
  return { ...toView(folder, manifest), faults, isProved };
}

/** Restores a backup, or the newest of a folder, to a state directory that is empty or not there. */
export async function restoreTo(source: string, stateDir: string, onProgress?: RestoreProgress) {
  await refuseOverlap(stateDir, source);
  await becomeOwnerOf(stateDir);
  const restored = await restoreBackup(source, stateDir, { clock: systemClock, onProgress });
  return {
    ...toView(restored.backup, restored.manifest),
    stateDir,
    /** Whether it belongs to root, as its folder does or because there was none: a daemon of another user cannot open it. */
    isOfRoot: process.getuid?.() === 0,
    configuration: join(restored.backup, "configuration"),
    instance: restored.instance,
    isProved: restored.isProved,
    /** From when hosts have to send again, in words. */
    sendAgain: sendAgainText(restored.hold),
    sendAgainFrom: isoTime(restored.hold.sendAgainFrom),
    outbound: restored.outbound,
  };
}

export type RestoredView = Awaited<ReturnType<typeof restoreTo>>;
