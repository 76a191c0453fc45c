/** Which backups are kept: the newest of each of the last days, weeks and months that have one. */
import { localTimeOf } from "../domain/time/zoned-time.ts";
import type { BackupFolder } from "./backup-folder.ts";
import { dayMs } from "../lib/durations.ts";

export interface KeepRules {
  readonly daily: number;
  readonly weekly: number;
  readonly monthly: number;
  /** IANA; whose days, weeks (from Monday) and months they are. */
  readonly zone: string;
}

/** The Monday of the week. */
function weekOf(day: string): string {
  const at = Date.parse(`${day}T00:00:00Z`);
  const sinceMonday = (new Date(at).getUTCDay() + 6) % 7;
  return new Date(at - sinceMonday * dayMs).toISOString().slice(0, 10);
}

/** The newest of each of the last `count` periods; `backups` are the newest first. */
function newestOfEach(
  backups: readonly BackupFolder[],
  count: number,
  periodOf: (backup: BackupFolder) => string,
): readonly BackupFolder[] {
  const byPeriod = new Map<string, BackupFolder>();
  for (const backup of backups) {
    const period = periodOf(backup);
    if (!byPeriod.has(period)) byPeriod.set(period, backup);
  }
  return [...byPeriod.values()].slice(0, count);
}

/**
 * Those that no rule keeps, at the moment at which the one that was made last was begun: that one is always kept. What is dated
 * later, by a clock that was ahead, is kept too, and takes no place of another. Without any rule all are kept.
 */
export function outdatedBackups(
  backups: readonly BackupFolder[],
  { daily, weekly, monthly, zone }: KeepRules,
  lastBegunAt: number,
): readonly BackupFolder[] {
  if (daily + weekly + monthly === 0) return [];
  const newestFirst = backups
    .filter(({ begunAt }) => begunAt <= lastBegunAt)
    .toSorted((one, other) => other.begunAt - one.begunAt);
  const dayOf = ({ begunAt }: BackupFolder) => localTimeOf(begunAt, zone).slice(0, 10);
  const kept = new Set([
    ...newestFirst.slice(0, 1),
    ...newestOfEach(newestFirst, daily, dayOf),
    ...newestOfEach(newestFirst, weekly, (one) => weekOf(dayOf(one))),
    ...newestOfEach(newestFirst, monthly, (one) => dayOf(one).slice(0, 7)),
  ]);
  return newestFirst.filter((one) => !kept.has(one));
}
