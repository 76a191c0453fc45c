/** What is asked of the process that makes a backup for the daemon, and what comes of it. */
import type { Config } from "../../config/schema.ts";

/** What a backup has to know of the configuration. */
export interface BackupConfig extends Pick<Config, "stateDir" | "backup"> {
  readonly integrations: Readonly<Record<string, { readonly file: string }>>;
}

/** What the process is given, as its only argument. */
export interface BackupTask {
  readonly config: BackupConfig;
  readonly request: { readonly configFile: string; readonly version: string };
}

/** What the process prints. */
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

/** Hears of each progress. Rejects when the process fails, makes no progress, or is aborted. */
export type MakeBackup = (
  task: BackupTask,
  progressed: () => void,
  signal: AbortSignal,
) => Promise<BackupReport>;
