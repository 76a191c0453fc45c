/** What came of the backups of a schedule: since when they fail, and whether the process of one hangs. */
import type { Clock } from "../../lib/clock.ts";
import { messageOf } from "../../lib/errors.ts";
import { given } from "../../lib/given.ts";
import { isRunning } from "../../lib/running-process.ts";
import type { BackupFailure, BackupOutcomes } from "../../store/database/backup-state.ts";
import type { LastBackup } from "../../store/database/last-backup.ts";
import { type BackupConfig, HungBackupError, type MadeBackup } from "./backup-task.ts";

export interface OutcomeDeps {
  readonly clock: Clock;
  readonly config: () => BackupConfig;
}

export interface OutcomesOfBackups {
  failure(): BackupFailure | undefined;
  /** For the database. */
  noted(): BackupOutcomes;
  /** Goes on with what an earlier run of the daemon has noted. */
  resume(outcomes: BackupOutcomes, last: LastBackup | undefined): void;
  /** Forgets a failure that nobody waits about any more, or after which one was made. */
  settle(last: LastBackup | undefined): void;
  /** Throws while one hangs. Another one would hang too, or fail for its lock, and say something else than what to do. */
  refuseWhileHung(): void;
  made(backup: MadeBackup): void;
  failed(error: unknown): void;
}

/**
 * The failure of scheduled backups as long as it stands: until the configuration asks for none any more, or one was made since,
 * by whomever. `now` in milliseconds UTC.
 */
export function standingFailure(
  failure: BackupFailure | undefined,
  { config, last, now }: { config: Pick<BackupConfig, "backup">; last: LastBackup | undefined; now: number },
): BackupFailure | undefined {
  const { folder, schedule } = config.backup;
  if (failure === undefined || folder === undefined || schedule === undefined) return undefined;
  // One from the future was noted by a clock that was ahead.
  const isMadeSince = last !== undefined && last.endedAt > failure.at && last.endedAt <= now;
  return isMadeSince ? undefined : failure;
}

/** Keeps them. */
export function keepOutcomes({ clock, config }: OutcomeDeps): OutcomesOfBackups {
  let { failure, hung }: BackupOutcomes = {};
  const settle = (last: LastBackup | undefined) => {
    failure = standingFailure(failure, { config: config(), last, now: clock.now() });
  };
  return {
    failure: () => failure,
    noted: () => given({ failure, hung }),
    resume(outcomes, last) {
      ({ failure, hung } = outcomes);
      settle(last);
    },
    settle,
    refuseWhileHung() {
      if (hung !== undefined && isRunning(hung.process)) throw new HungBackupError(hung);
    },
    made(backup) {
      [failure, hung] = [undefined, backup.hung];
    },
    failed(error) {
      failure = { at: failure?.at ?? clock.now(), message: messageOf(error) };
      hung = error instanceof HungBackupError ? error.hung : undefined;
    },
  };
}
