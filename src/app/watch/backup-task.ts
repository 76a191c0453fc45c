/** What is asked of the process that makes a backup for the daemon, and what comes of it. */
import type { Config } from "../../config/schema.ts";
import type { HungBackup } from "../../store/database/backup-state.ts";

/** What a backup has to know of the configuration. */
export interface BackupConfig extends Pick<Config, "stateDir" | "store" | "backup"> {
  readonly integrations: Readonly<Record<string, { readonly file: string }>>;
}

/** What the process is given, as its only argument. */
export interface BackupTask {
  readonly config: BackupConfig;
  readonly request: { readonly configFile: string; readonly version: string };
}

/** What the process prints, in a line of its own: when the backup is whole, and again when older ones are removed. */
export interface BackupReport {
  readonly folder: string;
  readonly files: number;
  readonly bytes: number;
  readonly shared: number;
  readonly removed: readonly string[];
  readonly notRemoved?: string;
  /** What the backup is not as it was meant to be, whole as it is. */
  readonly warnings: readonly string[];
  readonly discrepancies: readonly string[];
}

/** A backup that was made. */
export interface MadeBackup extends BackupReport {
  /** Its process, when that hangs in the removal of older ones and cannot be ended. */
  readonly hung?: HungBackup;
}

/**
 * Hears of each progress. Rejects when the process fails, makes no progress, or is aborted: with a `HungBackupError` when it
 * cannot be ended. What happens after the backup was made is `notRemoved`.
 */
export type MakeBackup = (
  task: BackupTask,
  progressed: () => void,
  signal: AbortSignal,
) => Promise<MadeBackup>;

/** A backup that made no progress, and whose process hangs in a call after it was killed. */
export class HungBackupError extends Error {
  readonly hung: HungBackup;

  constructor(hung: HungBackup) {
    super(hung.message);
    this.hung = hung;
  }
}
