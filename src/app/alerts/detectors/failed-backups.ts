import type { Finding } from "../../../domain/alerts/incident.ts";
import { isoTime } from "../../../lib/iso-time.ts";
import { findLastBackup } from "../../../store/database/last-backup.ts";
import type { Detector, Scan } from "../detector.ts";
import { isStalled, runText } from "../../watch/backup-run.ts";
import { lasting } from "./finding-text.ts";
import { hourMs } from "../../../lib/durations.ts";

const failedLevel = 2;

function failureOf({ now, sources }: Scan): readonly Finding[] {
  const [failure, run] = [sources.backups.failure(), sources.backups.running()];
  if (run !== undefined && isStalled(run, now)) {
    const samples = failure === undefined ? [] : [failure.message];
    return [
      { cause: "", summary: runText(run, now), count: 1, since: run.progressAt, level: failedLevel, samples },
    ];
  }
  if (failure === undefined) return [];
  const { at, message } = failure;
  const summary = "the scheduled backup fails; it is tried again each half an hour";
  return [{ cause: "", summary, count: 1, since: at, level: failedLevel, samples: [message] }];
}

/** The scheduled backup fails or makes no progress, or the last one is older than `backup.warnAfterHours`. */
export const detectFailedBackups: Detector<"backupOverdue"> = async (scan) => {
  const { read, now, sources } = scan;
  const failure = failureOf(scan);
  if (failure.length > 0) return failure;
  const last = await findLastBackup(read);
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
