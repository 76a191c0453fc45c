import type { Finding } from "../../../domain/alerts/incident.ts";
import { isoTime } from "../../../lib/iso-time.ts";
import { findLastBackup, type LastBackup } from "../../../store/database/last-backup.ts";
import type { Detector, Scan } from "../detector.ts";
import { isStalled, runText } from "../../watch/backup-run.ts";
import { lasting } from "./finding-text.ts";
import { hourMs } from "../../../lib/durations.ts";

const failedLevel = 2;

/**
 * What an earlier run of the daemon has found: it is over when a backup was made, and not because this run has not tried
 * yet.
 */
function earlierFailure({ sources, open }: Scan, last: LastBackup | undefined): readonly Finding[] {
  const { folder, schedule } = sources.config().backup;
  const known = open.get("");
  if (known?.level !== failedLevel || folder === undefined || schedule === undefined) return [];
  return last !== undefined && last.endedAt > known.openedAt ? [] : [known];
}

function failureOf(scan: Scan, last: LastBackup | undefined): readonly Finding[] {
  const { now, sources } = scan;
  const [failure, run] = [sources.backups.failure(), sources.backups.running()];
  if (run !== undefined && isStalled(run, now)) {
    const samples = failure === undefined ? [] : [failure.message];
    return [
      { cause: "", summary: runText(run, now), count: 1, since: run.progressAt, level: failedLevel, samples },
    ];
  }
  if (failure === undefined) return earlierFailure(scan, last);
  const { at, message } = failure;
  const summary = "the scheduled backup fails; it is tried again each half an hour";
  return [{ cause: "", summary, count: 1, since: at, level: failedLevel, samples: [message] }];
}

/** The scheduled backup fails or makes no progress, or the last one is older than `backup.warnAfterHours`. */
export const detectFailedBackups: Detector<"backupOverdue"> = async (scan) => {
  const { read, now, sources } = scan;
  const last = await findLastBackup(read);
  const failure = failureOf(scan, last);
  if (failure.length > 0) return failure;
  const { folder, schedule, warnAfterHours } = sources.config().backup;
  if (warnAfterHours === 0) return [];
  const one = { cause: "", count: 1, samples: [] };
  if (last === undefined) {
    // One that is scheduled is made at once.
    const isAwaited = folder !== undefined && schedule === undefined;
    return isAwaited ? [{ ...one, summary: "no backup of this state was made yet" }] : [];
  }
  const age = now - last.begunAt;
  if (age <= warnAfterHours * hourMs) return [];
  const summary = `the last backup was begun ${isoTime(last.begunAt)}, ${lasting(age)} ago`;
  return [{ ...one, summary, since: last.begunAt + warnAfterHours * hourMs, samples: [last.folder] }];
};
