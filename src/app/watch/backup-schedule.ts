/**
 * Makes the backups that the configuration asks for.
 *
 *   waiting ──due──> made by a process of its own ──> waiting for the next time
 *                         └── failed, or without progress for long and ended: again after half an hour, unless the process
 *                             hangs in a call to a dead share, and cannot be ended: none is begun while it is there
 *
 * When a backup is due follows from the last one in that folder, which the database has noted: one that was missed while
 * nothing ran is made at the next start, and the first one at once. A process of its own makes it, so that this one answers
 * meanwhile, however much there is to read.
 */
import { dirname, resolve } from "node:path";
import { nextDue, readCronSchedule } from "../../domain/time/cron-schedule.ts";
import type { Clock } from "../../lib/clock.ts";
import { lookEachMinute } from "../../lib/every-minute.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { readVersion } from "../../lib/program-version.ts";
import type { Service } from "../../lib/service.ts";
import type { Store } from "../../store/database/database.ts";
import { findLastBackup, type LastBackup } from "../../store/database/last-backup.ts";
import { type BackupFailure, type BackupRun, findBackupState } from "../../store/database/backup-state.ts";
import { minuteMs } from "../../lib/durations.ts";
import { keepOutcomes } from "./backup-outcomes.ts";
import { createBackupProcess } from "./backup-process-watch.ts";
import { watchRuns } from "./backup-run.ts";
import type { BackupConfig, BackupTask, MadeBackup, MakeBackup } from "./backup-task.ts";

export interface BackupScheduleDeps {
  readonly store: Pick<Store, "read" | "write">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly config: () => BackupConfig;
  readonly configFile: string;
  /** Calls `look` each minute until it is stopped; by default a task of node-cron. */
  readonly trigger?: (look: () => void) => { stop(): void };
  /** Makes one; by default a process of its own does. */
  readonly make?: MakeBackup;
  /** How often is noted how one that is being made gets on. Default a minute. */
  readonly noteMs?: number;
}

export interface BackupSchedule extends Service {
  /** The last backup, as it was noted a minute ago at most; undefined before the first. */
  last(): LastBackup | undefined;
  /**
   * Since when backups fail, before a restart too, and why the last one did; undefined while none has failed since the last
   * that was made, by whomever, and when none is scheduled.
   */
  failure(): BackupFailure | undefined;
  /** The one that is being made at this moment; undefined while none is. */
  running(): BackupRun | undefined;
  /** Resolves when a backup that is due has been made or has failed. Never rejects. */
  look(): Promise<void>;
}

const retryAfterMs = 30 * minuteMs;

/** The moment of the next backup after `after`; undefined when none is asked for. */
function dueAfter({ backup }: BackupConfig, after: number): number | undefined {
  const { folder, schedule, zone } = backup;
  if (folder === undefined || schedule === undefined) return undefined;
  const reading = readCronSchedule(schedule);
  if (reading.kind === "faulty") throw new Error(`backup.schedule ${reading.fault}`);
  return nextDue(reading.schedule, zone, after);
}

/** Only what the process needs: it is an argument, which others on the machine can read. */
function taskOf({ stateDir, integrations, backup }: BackupConfig, configFile: string): BackupTask {
  const files = Object.entries(integrations).map(([name, { file }]) => [name, { file }]);
  const config = { stateDir, backup, integrations: Object.fromEntries(files) };
  return { config, request: { configFile, version: readVersion() } };
}

function logMade(log: Logger, made: MadeBackup, tookMs: number): void {
  const { discrepancies, notRemoved, warnings, hung: _hung, ...rest } = made;
  log.info({ ...rest, ms: Math.round(tookMs) }, "backup made");
  for (const warning of warnings)
    log.warn({ folder: rest.folder, warning }, "the backup is not as it was meant to be");
  if (notRemoved !== undefined)
    log.warn({ fault: notRemoved }, "older backups could not be removed; the next backup tries it again");
  if (discrepancies.length > 0)
    log.error({ discrepancies }, "the backup is whole, but ledger and files of the state disagree");
}

/** Makes backups when they are due, from its start on. */
export function createBackupSchedule(deps: BackupScheduleDeps): BackupSchedule {
  const { store, clock, log, trigger, make = createBackupProcess(), noteMs = minuteMs } = deps;
  /** When the last one in the folder of the configuration was begun. */
  let since: number | undefined;
  const stopping = new AbortController();
  let last: LastBackup | undefined;
  const outcomes = keepOutcomes(deps);
  let notBefore = Number.NEGATIVE_INFINITY;
  const runs = watchRuns({ store, clock, log, make, noteMs });

  async function isDue(): Promise<boolean> {
    const [now, config] = [clock.now(), deps.config()];
    const { folder } = config.backup;
    last = await findLastBackup(store.read);
    // One that was made elsewhere may be on a disk that is in a drawer by now.
    if (last !== undefined && folder !== undefined && dirname(last.folder) === resolve(folder))
      since = last.begunAt;
    // A clock that was ahead must not put off backups until it is as late as that.
    if (since !== undefined && since > now) since = undefined;
    // Without one before it, the first is due at once: a machine that is off at the time of day would never make it.
    const due = dueAfter(config, since ?? 0);
    outcomes.settle(last);
    return due !== undefined && due <= now && now >= notBefore;
  }

  async function makeOne(): Promise<void> {
    outcomes.refuseWhileHung();
    const begun = performance.now();
    const task = taskOf(deps.config(), deps.configFile);
    const made = await runs.make(task, outcomes.noted(), stopping.signal);
    last = await findLastBackup(store.read);
    outcomes.made(made);
    await runs.note(outcomes.noted());
    logMade(log, made, performance.now() - begun);
  }

  async function lookOnce(): Promise<void> {
    try {
      if (stopping.signal.aborted || !(await isDue())) return;
      await makeOne();
    } catch (error) {
      if (stopping.signal.aborted) return;
      outcomes.failed(error);
      notBefore = clock.now() + retryAfterMs;
      log.error({ err: error }, "the backup failed; trying again in half an hour");
      await runs.note(outcomes.noted());
    }
  }

  const looks = lookEachMinute("backups", lookOnce, trigger);
  return {
    name: "backups",
    look: looks.look,
    last: () => last,
    failure: outcomes.failure,
    running: runs.running,
    async start() {
      last = await findLastBackup(store.read);
      outcomes.resume(await findBackupState(store.read), last);
      await runs.tidy();
      looks.begin();
    },
    async stop() {
      stopping.abort();
      await looks.end();
    },
  };
}
