/** What is noted in the state of the last backup that was taken of it. */
import type { Reader } from "./database.ts";
import type { Transaction } from "./groups/group-commit.ts";
import { readNote, writeMeta } from "./meta.ts";

const lastBackupKey = "last_backup";

/** Moments are milliseconds UTC. */
export interface LastBackup {
  readonly folder: string;
  readonly begunAt: number;
  readonly endedAt: number;
  readonly files: number;
  readonly bytes: number;
  /** How many there were between its ledger and its files. */
  readonly discrepancies: number;
}

/** Undefined when none was taken of this instance. */
export function findLastBackup(read: Reader): Promise<LastBackup | undefined> {
  return readNote(read, lastBackupKey);
}

/** Notes a backup that is whole. */
export async function noteLastBackup(tx: Transaction, last: LastBackup): Promise<void> {
  await writeMeta(tx, lastBackupKey, JSON.stringify(last));
}
