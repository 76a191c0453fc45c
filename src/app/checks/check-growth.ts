/** When the disks will be full at the rate at which the state has grown, what grows, and what would help. */
import { retentionKinds } from "../../domain/retention/retention.ts";
import { systemClock } from "../../lib/clock.ts";
import { isoTime } from "../../lib/iso-time.ts";
import { sizeText } from "../../lib/size-text.ts";
import { statePlaceOf } from "../../config/store-url.ts";
import { inspectGrowth } from "../../store/database/inspect-store.ts";
import { type CheckFinding, type DiskForecast, fine, warning } from "../watch/check-finding.ts";
import { dayMs } from "../../lib/durations.ts";
import { counted } from "../../lib/counted.ts";
import { type FilledDisk, filledDisksOf, findPlaces, type GrowingSite } from "./filled-disks.ts";
import { bytesAfter, daysUntilFull, firstTimeOf, isGrowing, type Rate, ratesOf } from "./growth-forecast.ts";

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

/** Up to three of what grows, each at least a tenth of what all of it is more a day. */
function mostOf(rates: readonly Rate[]): { readonly most: readonly Rate[]; readonly whole: number } {
  const whole = rates.reduce((sum, { bytesPerDay }) => sum + bytesPerDay, 0);
  const isMuch = (bytesPerDay: number) => bytesPerDay > 0 && bytesPerDay >= whole / 10;
  return { whole, most: rates.filter(({ bytesPerDay }) => isMuch(bytesPerDay)).slice(0, 3) };
}

/** The settings by which less of the most is kept. */
function retentionText(rates: readonly Rate[]): string {
  const most = mostOf(rates).most.map(({ what }) => what);
  const settings = retentionKinds.filter((kind) => most.includes(kind)).map((kind) => `retention.${kind}`);
  if (settings.length === 0) return "";
  return `, or keep less by ${settings.join(", ")}: \`dropgate prune --dry-run\` tells what would go`;
}

/** Over so many days a rate is told where the disk does not become full. */
const toldDays = 30;

interface Forecast extends FilledDisk {
  /** Of the period whose rate it goes by. */
  readonly days: number;
  /** In how many days it is full; undefined when it lasts. */
  readonly full: number | undefined;
}

/** What comes less what goes, so that the room and the rate give the day. */
function rateText({ room }: Forecast, rates: readonly Rate[]): string {
  const { most, whole } = mostOf(rates);
  const parts = most.map(({ what, bytesPerDay }) => `${what} ${sizeText(bytesPerDay)}`);
  const more = whole <= 0 ? "" : `${sizeText(whole)} more a day, most of it ${parts.join(", ")}; `;
  return `(${more}${sizeText(room)} may still be used)`;
}

/** The least and the most that is drawn. */
const drawnDays = { least: 90, most: 3_650 };
const drawnPoints = 60;

/** The same in numbers: from today until somewhat after the day on which it is full. */
function inNumbers({ folder, days, room, growing, full }: Forecast): DiskForecast {
  const { least, most } = drawnDays;
  const last = Math.min(most, Math.max(least, Math.ceil((full ?? most / 5) * 1.25)));
  const drawn = Array.from({ length: drawnPoints + 1 }, (_, index) =>
    Math.round((last * index) / drawnPoints),
  );
  return {
    ...{ folder, measuredDays: Math.round(days), roomBytes: room },
    ...(full === undefined ? {} : { fullInDays: full }),
    rates: ratesOf(growing, last),
    points: drawn.map((day) => ({ day, bytes: Math.round(bytesAfter(growing, day)) })),
  };
}

function diskFinding(forecast: Forecast): CheckFinding {
  return { ...lineOf(forecast), forecast: inNumbers(forecast) };
}

function lineOf(forecast: Forecast): CheckFinding {
  const { folder, growing, full } = forecast;
  const period = `at the rate of the last ${Math.round(forecast.days)} days`;
  if (!isGrowing(growing) && full === undefined)
    return fine(`nothing fills the disk of ${folder} ${period}: no more comes than goes`);
  const rates = ratesOf(growing, Math.max(1, full ?? toldDays));
  const rate = `${period} ${rateText(forecast, rates)}`;
  if (full === undefined) return fine(`the disk of ${folder} has room for more than ten years ${rate}`);
  const what = `the disk of ${folder} is full ${whenText(full)} ${rate}`;
  return full < warnDays ? warning(what, `make room${retentionText(rates)}`) : fine(what);
}

/** Of each disk the forecast of the period by which it is full sooner. */
function soonest(
  periods: readonly { readonly days: number; readonly disks: ReadonlyMap<number, FilledDisk> }[],
): readonly Forecast[] {
  const found = new Map<number, Forecast>();
  for (const { days, disks } of periods) {
    for (const [dev, disk] of disks) {
      const full = daysUntilFull(disk.room, disk.growing);
      const known = found.get(dev);
      if (known === undefined || (full ?? Infinity) < (known.full ?? Infinity))
        found.set(dev, { ...disk, days, full });
    }
  }
  return [...found.values()];
}

/** Whether a line of the check is one of those below. */
export function isAboutGrowth({ what }: CheckFinding): boolean {
  return /^(?:nothing fills the disk of|the disk of|how long the disk of) /.test(what);
}

/** Forecasts for the disks of the state, of targets that are folders and of `retention.moveTo`; nothing of a new state. */
export async function checkGrowth(site: GrowingSite): Promise<readonly CheckFinding[]> {
  const { stateDir } = site.config;
  const now = systemClock.now();
  const growths = await inspectGrowth(
    statePlaceOf(site.config),
    periodDays.map((days) => now - days * dayMs),
  );
  const firstAt = firstTimeOf(growths);
  if (firstAt === undefined) return [];
  const age = (now - firstAt) / dayMs;
  if (age < leastDays) {
    const since = `the first entry is of ${isoTime(firstAt)}`;
    return [fine(`how long the disk of ${stateDir} lasts can be told after ${leastDays} days: ${since}`)];
  }
  const places = await findPlaces(site);
  const periods = growths.map((growth, index) => {
    const days = Math.min(age, periodDays[index] ?? age);
    return { days, disks: filledDisksOf(site, places, { growth, days }) };
  });
  return soonest(periods).map(diskFinding);
}
