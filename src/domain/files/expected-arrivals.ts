/**
 * Files that are expected: at least so many until a time of day, on days of the week.
 *
 * Each day on which they are expected has a window. It begins at `from` (else at midnight), is due at `until`, and ends when
 * that of the next such day begins: files that come after the deadline still count for it. An expectation is late from a
 * deadline on that was not met, until its files are there, or those of the next day are. All of it follows from the rule,
 * the time and the ledger, so that a restart neither forgets nor repeats anything.
 *
 * A local time that the clocks skip is the first moment after the gap; of one that they show twice the first counts.
 */
import { dateAfter } from "../time/local-time.ts";
import { type Weekday, weekdayOf } from "../time/weekday.ts";
import { firstMomentOf, localTimeOf } from "../time/zoned-time.ts";
import { type FileState, openStates } from "./file-state.ts";
import { dayMs } from "../../lib/durations.ts";

/** What an expectation says of time and number. */
export interface ExpectedArrivals {
  readonly atLeast: number;
  /** Local times of day, `hh:mm`; 24:00 is the end of the day. */
  readonly until: string;
  readonly from?: string;
  /** IANA. */
  readonly zone: string;
  /** The days of `until`. */
  readonly weekdays: readonly Weekday[];
  /** `YYYY-MM-DD`, in the zone. */
  readonly closedDays: readonly string[];
}

/**
 * Entries of the ledger that count as arrived: those that wait for their decision, and applied ones. A file that was refused
 * or superseded, or was there before, brings nothing.
 */
export const arrivedStates = [...openStates, "applied"] as const satisfies readonly FileState[];

/** Moments are milliseconds UTC. */
export interface ArrivalWindow {
  /** The local date of the deadline, `YYYY-MM-DD`. */
  readonly day: string;
  readonly beginsAt: number;
  readonly dueAt: number;
}

export interface ArrivalWindows {
  /** The one whose deadline has passed last. */
  readonly last?: ArrivalWindow & { readonly endsAt?: number };
  /** The one whose deadline comes next. */
  readonly next?: ArrivalWindow;
}

/** The files that have arrived in a window. */
export interface ArrivalCount {
  readonly count: number;
  /** When the one came with which they were enough; undefined while they are not. */
  readonly enoughAt?: number;
}

export type CountArrivals = (window: {
  readonly beginsAt: number;
  readonly endsAt?: number;
}) => Promise<ArrivalCount>;

export interface CountedWindow extends ArrivalWindow, ArrivalCount {}

/** Where an expectation stands; `none`: nothing is expected today, or nothing is counted yet. */
export type ArrivalStanding =
  | ({ readonly kind: "met"; readonly enoughAt: number } & CountedWindow)
  | ({ readonly kind: "due" | "late" } & CountedWindow)
  | { readonly kind: "none" };

/** Holidays in a row are fewer. */
const mostDays = 400;
const midnight = "00:00";

function momentOn(day: string, timeOfDay: string, zone: string): number {
  const local = timeOfDay === "24:00" ? `${dateAfter(day, 1)}T${midnight}` : `${day}T${timeOfDay}`;
  return firstMomentOf(`${local}:00`, zone);
}

function windowOn(day: string, { from = midnight, until, zone }: ExpectedArrivals): ArrivalWindow {
  const firstDay = from < until ? day : dateAfter(day, -1);
  return { day, beginsAt: momentOn(firstDay, from, zone), dueAt: momentOn(day, until, zone) };
}

/** The first window that fits, going by days from the one that begins the search. */
function findWindow(
  expected: ExpectedArrivals,
  search: { readonly from: string; readonly step: 1 | -1 },
  fits: (window: ArrivalWindow) => boolean,
): ArrivalWindow | undefined {
  for (let days = 0; days < mostDays; days += 1) {
    const day = dateAfter(search.from, days * search.step);
    const weekday = weekdayOf(day);
    if (weekday === undefined || !expected.weekdays.includes(weekday)) continue;
    if (expected.closedDays.includes(day)) continue;
    const window = windowOn(day, expected);
    if (fits(window)) return window;
  }
  return undefined;
}

/** A week: what is closed in it is looked at by itself. */
const someDays = Array.from({ length: 7 }, (_, days) => dateAfter("2001-01-01", days));

/**
 * For how many days the ledger has to know a file, so that it is still counted until the next deadline: from the
 * beginning of a window to the deadline of the next day on which files are expected, however many are closed between.
 */
export function longestCountedDays(expected: ExpectedArrivals): number {
  const gaps = [...someDays, ...expected.closedDays].map((day) => {
    const before = findWindow(expected, { from: day, step: -1 }, () => true);
    const after = findWindow(expected, { from: dateAfter(day, 1), step: 1 }, () => true);
    if (before === undefined || after === undefined) return 0;
    return Math.round((Date.parse(after.day) - Date.parse(before.day)) / dayMs);
  });
  // A window and its deadline take up to a day, and an hour more when the clocks change.
  return Math.max(...gaps) + 2;
}

/** The windows before and after a moment. Deadlines from before `since`, when there was no such company, are none. */
export function arrivalWindowsAt(expected: ExpectedArrivals, now: number, since = 0): ArrivalWindows {
  const today = localTimeOf(now, expected.zone).slice(0, 10);
  // A day more on either side: where clocks go back at midnight, today comes twice.
  const next = findWindow(expected, { from: dateAfter(today, -1), step: 1 }, ({ dueAt }) => dueAt > now);
  const last = findWindow(expected, { from: dateAfter(today, 1), step: -1 }, ({ dueAt }) => dueAt <= now);
  return {
    ...(next === undefined ? {} : { next }),
    ...(last === undefined || last.dueAt <= since
      ? {}
      : { last: { ...last, ...(next === undefined ? {} : { endsAt: next.beginsAt }) } }),
  };
}

async function countNext({ next }: ArrivalWindows, now: number, count: CountArrivals) {
  if (next === undefined || next.beginsAt > now) return undefined;
  return { ...next, ...(await count({ beginsAt: next.beginsAt })) };
}

/** The window that is late, with its files; undefined when none is. Counts nothing before the first deadline. */
export async function findLateArrivals(
  windows: ArrivalWindows,
  now: number,
  count: CountArrivals,
): Promise<CountedWindow | undefined> {
  const { last } = windows;
  if (last === undefined) return undefined;
  const counted = await count(last);
  if (counted.enoughAt !== undefined) return undefined;
  const next = await countNext(windows, now, count);
  return next?.enoughAt === undefined ? { ...last, ...counted } : undefined;
}

/** Where the expectation stands at that moment. */
export async function arrivalStanding(
  { zone }: Pick<ExpectedArrivals, "zone">,
  windows: ArrivalWindows,
  now: number,
  count: CountArrivals,
): Promise<ArrivalStanding> {
  const late = await findLateArrivals(windows, now, count);
  if (late !== undefined) return { kind: "late", ...late };
  const { last } = windows;
  const isOfToday = last?.day === localTimeOf(now, zone).slice(0, 10);
  const begun = await countNext(windows, now, count);
  const counted =
    begun ?? (last !== undefined && isOfToday ? { ...last, ...(await count(last)) } : undefined);
  if (counted === undefined) return { kind: "none" };
  const { enoughAt } = counted;
  return enoughAt === undefined ? { kind: "due", ...counted } : { kind: "met", ...counted, enoughAt };
}
