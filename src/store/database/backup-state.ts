/** What the daemon notes of the backups that it makes by its schedule, for commands to tell. */
import { isRunning, type RunningProcess } from "../../lib/running-process.ts";
import type { Reader } from "./database.ts";
import type { Transaction } from "./groups/group-commit.ts";
import { readNote, writeMeta } from "./meta.ts";

const backupStateKey = "backup_state";

/** One that is being made; milliseconds UTC. */
export interface BackupRun {
  readonly begunAt: number;
  /** When it was last seen to get further. */
  readonly progressAt: number;
}

export interface BackupFailure {
  /** Of the first in a row, milliseconds UTC. */
  readonly at: number;
  /** Why the last one failed. */
  readonly message: string;
}

/** A backup that was ended, and whose process hangs in a call all the same. It may keep the lock. */
export interface HungBackup {
  readonly process: RunningProcess;
  /** What has happened, and what to do. */
  readonly message: string;
}

export interface BackupState {
  /** May be there for a while after its daemon was killed. */
  readonly running?: BackupRun;
  /** Since the last that was made by the schedule. */
  readonly failure?: BackupFailure;
  /** The last one that hung; it may have gone by now. */
  readonly hung?: HungBackup;
}

/** What is noted of those that are not being made. */
export type BackupOutcomes = Omit<BackupState, "running">;

/** Empty when nothing was noted. */
export async function findBackupState(read: Reader): Promise<BackupState> {
  return (await readNote<BackupState>(read, backupStateKey)) ?? {};
}

/** The one that still hangs at this moment; undefined when none does. */
export async function findHungBackup(read: Reader): Promise<HungBackup | undefined> {
  const { hung } = await findBackupState(read);
  return hung !== undefined && isRunning(hung.process) ? hung : undefined;
}

/** Notes all of it: what `state` does not have is forgotten. */
export async function noteBackupState(tx: Transaction, state: BackupState): Promise<void> {
  await writeMeta(tx, backupStateKey, JSON.stringify(state));
}
