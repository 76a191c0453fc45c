/** When the disks will be full at the rate at which the state has grown, what grows, and what would help. */
import { retentionKinds } from "../../domain/retention/retention.ts";
import { systemClock } from "../../lib/clock.ts";
import { isoTime } from "../../lib/iso-time.ts";
import { sizeText } from "../../lib/size-text.ts";
import { inspectGrowth } from "../../store/database/inspect-store.ts";
import { type CheckFinding, fine, warning } from "./check-finding.ts";
import {
  type FilledDisk,
  filledDisksOf,
  type GrowingSite,
  type MeasuredGrowth,
  stateDiskOf,
} from "./filled-disks.ts";
import { daysUntilFull, firstTimeOf, type Growing } from "./growth-forecast.ts";
import { dayMs } from "../../lib/durations.ts";
import { counted } from "../../lib/counted.ts";

/** The periods that are measured; the one by which the disk is full sooner counts. */
const periodDays = [30, 7] as const;
/** Less says too little of what comes. */
const leastDays = 3;
const warnDays = 30;

function whenText(days: number): string {
  if (days < 1) return "within a day";
  const day = isoTime(systemClock.now() + days * dayMs).slice(0, 10);
  if (days < 60) return `in about ${counted(days, "day")} (${day})`;
  return days < 730
    ? `in about ${Math.round(days / 30.4)} months (${day})`
    : `in about ${Math.round(days / 365)} years`;
}

/** Up to three, each at least a tenth of it all. */
function mostOf(growing: readonly Growing[]): { readonly most: readonly Growing[]; readonly whole: number } {
  const whole = growing.reduce((sum, { bytesPerDay }) => sum + bytesPerDay, 0);
  return { whole, most: growing.filter(({ bytesPerDay }) => bytesPerDay >= whole / 10).slice(0, 3) };
}

function rateText(growing: readonly Growing[]): string {
  const { most, whole } = mostOf(growing);
  const parts = most.map(({ what, bytesPerDay }) => `${what} ${sizeText(bytesPerDay)}`);
  return `${sizeText(whole)} a day, most of it ${parts.join(", ")}`;
}

/** The settings by which less of the most is kept. */
function retentionText(growing: readonly Growing[]): string {
  const most = mostOf(growing).most.map(({ what }) => what);
  const settings = retentionKinds.filter((kind) => most.includes(kind)).map((kind) => `retention.${kind}`);
  if (settings.length === 0) return "";
  return `, or keep less by ${settings.join(", ")}: \`dropgate prune --dry-run\` tells what would go`;
}

function diskFinding({ folder, room, growing }: FilledDisk, days: number): CheckFinding {
  const period = `at the rate of the last ${Math.round(days)} days`;
  if (growing.length === 0) return fine(`nothing fills the disk of ${folder} ${period}`);
  const full = daysUntilFull(room, growing);
  const rate = `${period} (${rateText(growing)}; ${sizeText(room)} may still be used)`;
  if (full === undefined) return fine(`the disk of ${folder} has room for more than ten years ${rate}`);
  const what = `the disk of ${folder} is full ${whenText(full)} ${rate}`;
  return full < warnDays ? warning(what, `make room${retentionText(growing)}`) : fine(what);
}

/** The period by which the disk of the state is full sooner. */
async function soonest(
  site: GrowingSite,
  periods: readonly MeasuredGrowth[],
): Promise<MeasuredGrowth | undefined> {
  let found: { readonly period: MeasuredGrowth; readonly full: number } | undefined;
  for (const period of periods) {
    const { room, growing } = await stateDiskOf(site, period);
    const full = daysUntilFull(room, growing) ?? Number.POSITIVE_INFINITY;
    if (found === undefined || full < found.full) found = { period, full };
  }
  return found?.period;
}

/** Forecasts for the disks of the state and of targets that are folders; nothing of a new state. */
export async function checkGrowth(site: GrowingSite): Promise<readonly CheckFinding[]> {
  const { stateDir } = site.config;
  const now = systemClock.now();
  const growths = await inspectGrowth(
    stateDir,
    periodDays.map((days) => now - days * dayMs),
  );
  const firstAt = firstTimeOf(growths);
  if (firstAt === undefined) return [];
  const age = (now - firstAt) / dayMs;
  if (age < leastDays) {
    const since = `the first entry is of ${isoTime(firstAt)}`;
    return [fine(`how long the disk of ${stateDir} lasts can be told after ${leastDays} days: ${since}`)];
  }
  const periods = growths.map((growth, index) => ({ growth, days: Math.min(age, periodDays[index] ?? age) }));
  const period = await soonest(site, periods);
  if (period === undefined) return [];
  return (await filledDisksOf(site, period)).map((disk) => diskFinding(disk, period.days));
}
