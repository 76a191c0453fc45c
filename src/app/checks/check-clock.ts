/** Whether the clock of the machine fits the times that are written in the state. */
import { systemClock } from "../../lib/clock.ts";
import { isoTime } from "../../lib/iso-time.ts";
import type { NewestTime } from "../../store/database/newest-time.ts";
import type { PruneClock } from "../../store/database/prune-clock.ts";
import { judgeClock, jumpText } from "../retention/clock-guard.ts";
import { type CheckFinding, fine, warning } from "../watch/check-finding.ts";
import { dayMs, hourMs, minuteMs } from "../../lib/durations.ts";

/** What setting a clock right by the network may take back. */
const toleranceMs = 5 * minuteMs;

const units = [
  ["day", dayMs],
  ["hour", hourMs],
  ["minute", minuteMs],
] as const;

/** In the largest unit of which there are two. */
function spanText(spanMs: number): string {
  const [unit, length] = units.find(([, one]) => spanMs >= 2 * one) ?? ["minute", minuteMs];
  return `${Math.floor(spanMs / length)} ${unit}s`;
}

function jumpFindings(pruneClock: PruneClock | undefined, now: number): readonly CheckFinding[] {
  const look = judgeClock(pruneClock, now);
  if (look.kind === "right") return [];
  return [warning(jumpText(look), "`timedatectl` shows whether the clock is right")];
}

export interface StateTimes {
  readonly newestTime: NewestTime | undefined;
  readonly pruneClock: PruneClock | undefined;
}

/** Warnings: the order of files does not come from the clock, and what waits for it is done late, not lost. */
export function checkClock({ newestTime: newest, pruneClock }: StateTimes): readonly CheckFinding[] {
  if (newest === undefined) return [];
  const now = systemClock.now();
  const jump = jumpFindings(pruneClock, now);
  if (newest.at - now <= toleranceMs)
    return jump.length > 0 ? jump : [fine("the clock is not behind the times in the state")];
  const what =
    `the clock is ${spanText(newest.at - now)} behind the state: it shows ${isoTime(now)}, and ${newest.what} ` +
    `${isoTime(newest.at)}. Until it is as late as that, retries, exports and holds of appointments whose time was set by ` +
    "the other clock wait, bans last longer, and nothing that is dated ahead is removed by its age";
  const remedy =
    "`timedatectl` shows whether the clock is right: set it. If it is right now and was ahead before, look for deliveries " +
    "that wait (`dropgate deliveries --state waiting`) and `dropgate delivery retry` them";
  return [warning(what, remedy)];
}
