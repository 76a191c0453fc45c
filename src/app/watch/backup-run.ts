/** A backup that is being made at this moment: whether it gets on, how that is told, and what is noted of it. */
import type { Clock } from "../../lib/clock.ts";
import { minuteMs } from "../../lib/durations.ts";
import { given } from "../../lib/given.ts";
import { isoTime } from "../../lib/iso-time.ts";
import { loggingFirstFailure } from "../../lib/logs/first-failure.ts";
import type { Logger } from "../../lib/logs/log.ts";
import {
  type BackupOutcomes,
  type BackupRun,
  type BackupState,
  findBackupState,
  noteBackupState,
} from "../../store/database/backup-state.ts";
import type { Store } from "../../store/database/database.ts";
import type { BackupTask, MadeBackup, MakeBackup } from "./backup-task.ts";

/** One without progress for so long is told; the daemon ends it some minutes later. */
const toldAfterMs = 5 * minuteMs;

/** Whether it has made no progress for so long that somebody should know. */
export function isStalled({ progressAt }: BackupRun, now: number): boolean {
  return now - progressAt >= toldAfterMs;
}

/** Since when it runs, and since when it has made no progress where that is long ago. */
export function runText(run: BackupRun, now: number): string {
  const running = `a backup has been running since ${isoTime(run.begunAt)}`;
  return isStalled(run, now) ? `${running}, without progress since ${isoTime(run.progressAt)}` : running;
}

export interface RunWatchDeps {
  readonly store: Pick<Store, "read" | "write">;
  readonly clock: Clock;
  readonly log: Pick<Logger, "error">;
  readonly make: MakeBackup;
  /** How often is noted how one that is being made gets on. */
  readonly noteMs: number;
}

export interface RunWatch {
  /** The one that is being made; undefined while none is. */
  running(): BackupRun | undefined;
  /** Forgets one that was noted by a daemon that was killed. Never rejects. */
  tidy(): Promise<void>;
  /** Notes for other processes what is made, and what came of those before. Never rejects. */
  note(outcomes: BackupOutcomes): Promise<void>;
  /** Makes one, and keeps since when it has made no progress. Rejects as `make` does. */
  make(task: BackupTask, outcomes: BackupOutcomes, signal: AbortSignal): Promise<MadeBackup>;
}

/** Watches backups while they are made. */
export function watchRuns({ store, clock, log, make, noteMs }: RunWatchDeps): RunWatch {
  let running: BackupRun | undefined;
  const noting = loggingFirstFailure(
    log,
    "how backups get on cannot be recorded, and `dropgate check` does not say it",
  );
  const write = (state: BackupState) =>
    noting(() => store.write("unowned", (tx) => noteBackupState(tx, state)));
  const note = (outcomes: BackupOutcomes) => write({ ...outcomes, ...given({ running }) });
  return {
    running: () => running,
    note,
    tidy: () =>
      noting(async () => {
        const { running: before, ...outcomes } = await findBackupState(store.read);
        if (before !== undefined) await store.write("unowned", (tx) => noteBackupState(tx, outcomes));
      }),
    async make(task, outcomes, signal) {
      const begunAt = clock.now();
      const progressed = () => {
        running = { begunAt, progressAt: clock.now() };
      };
      progressed();
      await note(outcomes);
      const timer = setInterval(() => void note(outcomes), noteMs);
      try {
        return await make(task, progressed, signal);
      } finally {
        clearInterval(timer);
        running = undefined;
      }
    },
  };
}
