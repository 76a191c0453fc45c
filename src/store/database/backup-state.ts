/** What the daemon notes of the backups that it makes by its schedule, for commands to tell. */
import type { Reader } from "./database.ts";
import type { Transaction } from "./group-commit.ts";
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

export interface BackupState {
  /** May be there for a while after its daemon was killed. */
  readonly running?: BackupRun;
  /** Since the last that was made by the schedule. */
  readonly failure?: BackupFailure;
}

/** Empty when nothing was noted. */
export async function findBackupState(read: Reader): Promise<BackupState> {
  return (await readNote<BackupState>(read, backupStateKey)) ?? {};
}

export async function noteBackupState(tx: Transaction, state: BackupState): Promise<void> {
  await writeMeta(tx, backupStateKey, JSON.stringify(state));
}
