/**
 * While a backup is made, files stay: those that its copy of the database names have to be there until they are taken. A pass
 * asks before each step, and leaves what had to stay to a later one.
 */
import { isBackupRunning } from "../../backup/take-backup.ts";
import type { FileKind } from "../../inbound/pruning/pruning.ts";
import { waitText } from "../../lib/wait-text.ts";
import { findHungBackup } from "../../store/database/backup-state.ts";
import type { Reader } from "../../store/database/database.ts";
import { findLastBackup } from "../../store/database/last-backup.ts";

export interface BackupHold {
  /** Whether old files of that kind, which would go now, have to stay at this moment. */
  readonly isHeldUp: (kind: FileKind) => boolean;
  /** Of which kinds old files had to stay. */
  readonly kinds: ReadonlySet<FileKind>;
}

/** For one pass. */
export function createBackupHold(stateDir: string): BackupHold {
  const kinds = new Set<FileKind>();
  const isHeldUp = (kind: FileKind) => {
    const isRunning = isBackupRunning(stateDir);
    if (isRunning) kinds.add(kind);
    return isRunning;
  };
  return { isHeldUp, kinds };
}

/** Why old files of those kinds stay and until when, for the log and the commands; undefined when none had to stay. */
export async function heldUpText(
  read: Reader,
  { kinds }: Pick<BackupHold, "kinds">,
): Promise<string | undefined> {
  if (kinds.size === 0) return undefined;
  const old = `old files of ${[...kinds].join(", ")} stay until`;
  const hung = await findHungBackup(read);
  if (hung !== undefined) return `a backup hangs: ${old} its process is gone (${hung.message})`;
  const last = await findLastBackup(read);
  const took = last === undefined ? "" : ` (the last one took ${waitText(last.endedAt - last.begunAt)})`;
  return `a backup is being made: ${old} it is done${took}`;
}
