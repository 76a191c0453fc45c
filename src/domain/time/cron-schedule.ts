/**
 * Cron expressions of five fields, and when they are due next in a time zone.
 *
 * A local time that the clocks skip is due at the first moment after the gap, one that they show twice at the first of the
 * two: so each local time that is named is due exactly once a day, also on days of 23 and 25 hours, and on a day that a
 * zone leaves out altogether.
 */
import { daysOfMonth as mostDays } from "./local-time.ts";
import { firstMomentOf, localTimeOf } from "./zoned-time.ts";
import { dayMs, minuteMs } from "../../lib/durations.ts";

export interface CronSchedule {
  /** Minutes of the day, ascending. */
  readonly minutesOfDay: readonly number[];
  readonly daysOfMonth: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  /** 0 is Sunday. */
  readonly daysOfWeek: ReadonlySet<number>;
  /** Both kinds of day are restricted: then, as in cron, one of them has to fit; else both. */
  readonly isEitherDay: boolean;
}

export type CronReading =
  | { readonly kind: "read"; readonly schedule: CronSchedule }
  /** `fault` completes "the schedule …" and says what to write. */
  | { readonly kind: "faulty"; readonly fault: string };

interface Field {
  readonly title: string;
  readonly least: number;
  readonly greatest: number;
  readonly names: readonly string[];
}

const monthNames = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const dayNames = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

const minuteField: Field = { title: "minute", least: 0, greatest: 59, names: [] };
const hourField: Field = { title: "hour", least: 0, greatest: 23, names: [] };
const dayOfMonthField: Field = { title: "day of month", least: 1, greatest: 31, names: [] };
const monthField: Field = { title: "month", least: 1, greatest: 12, names: monthNames };
/** 7 is Sunday too. */
const dayOfWeekField: Field = { title: "day of week", least: 0, greatest: 7, names: dayNames };

class CronFault extends Error {}

function fault(message: string): never {
  throw new CronFault(message);
}

/** Which part of a field is not understood, and what can stand there. */
function refuse(text: string, { title, least, greatest, names }: Field): never {
  const named = names.length === 0 ? "" : ` or ${names[0]} to ${names.at(-1)}`;
  return fault(
    `has \`${text}\` as ${title}: write ${least} to ${greatest}${named}, a list (1,3), a range (1-5), or a step of a range or of all (1-5/2, */2)`,
  );
}

function readValue(text: string, field: Field): number {
  const name = field.names.indexOf(text.toUpperCase());
  if (name >= 0) return name + field.least;
  const value = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  return value >= field.least && value <= field.greatest ? value : refuse(text, field);
}

interface Range {
  readonly from: number;
  readonly to: number;
}

function readRange(text: string, field: Field): Range {
  if (text === "*") return { from: field.least, to: field.greatest };
  const [first = "", last, ...more] = text.split("-");
  if (more.length > 0) return refuse(text, field);
  const from = readValue(first, field);
  if (last === undefined) return { from, to: from };
  const end = readValue(last, field);
  // The Sunday at the end of a week: SAT-SUN.
  const to = field === dayOfWeekField && end === 0 ? 7 : end;
  if (from <= to) return { from, to };
  return fault(
    `has \`${text}\` as ${field.title}, which ends before it begins: write two ranges (a-${field.greatest},${field.least}-b)`,
  );
}

function readStep(text: string, field: Field): number {
  const step = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (step >= 1) return step;
  return fault(`has the step \`${text}\` in ${field.title}: write a whole number from 1 to 99`);
}

function readPart(part: string, field: Field): number[] {
  const [base = "", step, ...more] = part.split("/");
  if (more.length > 0) return refuse(part, field);
  const { from, to } = readRange(base, field);
  const by = step === undefined ? 1 : readStep(step, field);
  if (step !== undefined && base !== "*" && !base.includes("-")) {
    return fault(
      `has \`${part}\` as ${field.title}: a step needs a range (${base}-${field.greatest}/${step})`,
    );
  }
  const values = [];
  for (let value = from; value <= to; value += by) values.push(value);
  return values;
}

function readField(text: string, field: Field): ReadonlySet<number> {
  return new Set(text.split(",").flatMap((part) => readPart(part, field)));
}

function readDaysOfWeek(text: string): ReadonlySet<number> {
  return new Set([...readField(text, dayOfWeekField)].map((day) => day % 7));
}

function isEver({ daysOfMonth, months, isEitherDay }: CronSchedule): boolean {
  if (isEitherDay) return true;
  return [...months].some((month) => [...daysOfMonth].some((day) => day <= (mostDays[month - 1] ?? 0)));
}

function minutesOfDay(hours: ReadonlySet<number>, minutes: ReadonlySet<number>): number[] {
  const all = [...hours].flatMap((hour) => [...minutes].map((minute) => hour * 60 + minute));
  return all.toSorted((left, right) => left - right);
}

function readSchedule(text: string): CronSchedule {
  const fields = text.trim().split(/[ \t]+/);
  const [minute = "", hour = "", dayOfMonth = "", month = "", dayOfWeek = ""] = fields;
  if (fields.length !== 5) {
    return fault(
      `has ${text.trim() === "" ? 0 : fields.length} fields, not five: write minute, hour, day of month, month and day of week, such as \`30 2 * * *\``,
    );
  }
  const schedule = {
    minutesOfDay: minutesOfDay(readField(hour, hourField), readField(minute, minuteField)),
    daysOfMonth: readField(dayOfMonth, dayOfMonthField),
    months: readField(month, monthField),
    daysOfWeek: readDaysOfWeek(dayOfWeek),
    isEitherDay: !dayOfMonth.startsWith("*") && !dayOfWeek.startsWith("*"),
  };
  return isEver(schedule) ? schedule : fault("names a day that no month of it has: write another day");
}

/** Reads `minute hour day-of-month month day-of-week`; names may be in any case, 7 is Sunday like 0. */
export function readCronSchedule(text: string): CronReading {
  try {
    return { kind: "read", schedule: readSchedule(text) };
  } catch (error) {
    if (error instanceof CronFault) return { kind: "faulty", fault: error.message };
    throw error;
  }
}

/** No schedule that is ever due waits longer: the 29th of February leaves out eight years at most. */
const mostDaysAhead = 41 * 366;

/** What the clocks show, as if it were UTC. */
function wallOf(at: number, zone: string): number {
  return Date.parse(`${localTimeOf(at, zone)}Z`);
}

function isDueDay(schedule: CronSchedule, day: number): boolean {
  const date = new Date(day);
  if (!schedule.months.has(date.getUTCMonth() + 1)) return false;
  const fitsMonth = schedule.daysOfMonth.has(date.getUTCDate());
  const fitsWeek = schedule.daysOfWeek.has(date.getUTCDay());
  return schedule.isEitherDay ? fitsMonth || fitsWeek : fitsMonth && fitsWeek;
}

/** The first moment of a day's that is later than `after`. They ascend, so that it is found by halving. */
function firstOfDay(schedule: CronSchedule, zone: string, search: { day: number; after: number }) {
  const { minutesOfDay: minutes } = schedule;
  const momentAt = (index: number) => {
    const wall = search.day + (minutes[index] ?? 0) * minuteMs;
    return firstMomentOf(new Date(wall).toISOString().slice(0, 19), zone);
  };
  let [low, high] = [0, minutes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (momentAt(middle) > search.after) high = middle;
    else low = middle + 1;
  }
  return low < minutes.length ? momentAt(low) : undefined;
}

/** The first moment later than `after` at which the schedule is due in the zone (IANA); milliseconds UTC. */
export function nextDue(schedule: CronSchedule, zone: string, after: number): number {
  // What the clocks have come to by now has been due by now, also on a day that they come to again.
  const today = Math.floor(wallOf(after, zone) / dayMs) * dayMs;
  for (let ahead = 0; ahead < mostDaysAhead; ahead += 1) {
    const day = today + ahead * dayMs;
    const found = isDueDay(schedule, day) ? firstOfDay(schedule, zone, { day, after }) : undefined;
    if (found !== undefined) return found;
  }
  throw new Error("a schedule that has been read is due at some time");
}
