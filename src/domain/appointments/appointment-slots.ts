/**
 * Time slots: the windows of a region on the days of its calendar (specification/appointments.md#slots).
 *
 * A slot is known by its region, its local date and the time at which its window begins in the configuration: the same
 * all the time, also on days on which clocks change. There, a time that the day skips is the end of the gap, so that a
 * window that lies in the gap is not offered; of a time that the day has twice the first counts.
 */
import { hash } from "node:crypto";
import type { AppointmentRegion, AppointmentSettings, AppointmentWindow } from "./appointment-region.ts";
import { dateAfter, isLocalDateTime, minutesOfDay } from "../time/local-time.ts";
import { weekdayOf } from "../time/weekday.ts";
import { firstMomentOf, localTimeOf } from "../time/zoned-time.ts";
import { dayMs, minuteMs } from "../../lib/durations.ts";

export interface AppointmentSlot {
  readonly region: AppointmentRegion;
  readonly window: AppointmentWindow;
  /** `YYYY-MM-DDThh:mm`: local date and configured beginning. Sorts by time within a region. */
  readonly key: string;
  /** Milliseconds UTC. */
  readonly startsAt: number;
  readonly endsAt: number;
  /** The same as clocks in the region show it, `YYYY-MM-DDThh:mm:ss`. */
  readonly timeFrom: string;
  readonly timeTo: string;
}

/** One local day of a zone. */
interface Day {
  readonly date: string;
  /** Undefined on days on which clocks change, or at whose end they do. */
  readonly midnight: number | undefined;
}

interface Moment {
  readonly at: number;
  readonly local: string;
}

function momentOn({ date, midnight }: Day, timeOfDay: string, zone: string): Moment {
  const local = timeOfDay === "24:00" ? `${dateAfter(date, 1)}T00:00:00` : `${date}T${timeOfDay}:00`;
  // Reading the calendar of a zone takes time; a listing has hundreds of slots.
  if (midnight !== undefined) return { at: midnight + minutesOfDay(timeOfDay) * minuteMs, local };
  const at = firstMomentOf(local, zone);
  return { at, local: localTimeOf(at, zone) };
}

function dayOf(date: string, zone: string): Day {
  const nextDate = dateAfter(date, 1);
  const [midnight, next] = [date, nextDate].map((one) => firstMomentOf(`${one}T00:00:00`, zone));
  const isPlain =
    midnight !== undefined &&
    next !== undefined &&
    next - midnight === dayMs &&
    localTimeOf(next, zone).startsWith(`${nextDate}T00:00`);
  return { date, midnight: isPlain ? midnight : undefined };
}

type Calendar = Pick<AppointmentSettings, "closedDays" | "horizonDays" | "leadMinutes">;

function isOpenOn(date: string, region: AppointmentRegion, { closedDays }: Calendar): boolean {
  const weekday = weekdayOf(date);
  return weekday !== undefined && region.weekdays.includes(weekday) && !closedDays.includes(date);
}

function slotOf(region: AppointmentRegion, day: Day, window: AppointmentWindow): AppointmentSlot | undefined {
  const start = momentOn(day, window.from, region.zone);
  const end = momentOn(day, window.to, region.zone);
  if (start.at >= end.at) return undefined;
  return {
    ...{ region, window, key: `${day.date}T${window.from}` },
    ...{ startsAt: start.at, endsAt: end.at, timeFrom: start.local, timeTo: end.local },
  };
}

/** The local date of the last day that is offered. */
function lastDateOf({ zone }: AppointmentRegion, { horizonDays }: Calendar, now: number): string {
  return dateAfter(localTimeOf(now, zone).slice(0, 10), horizonDays);
}

function isEarlyEnough({ startsAt }: AppointmentSlot, { leadMinutes }: Calendar, now: number): boolean {
  return startsAt > now && startsAt >= now + leadMinutes * minuteMs;
}

/** Whether a slot may be booked at this moment: it is neither too near nor too far away. */
export function isBookable(slot: AppointmentSlot, calendar: Calendar, now: number): boolean {
  const isWithinHorizon = slot.key.slice(0, 10) <= lastDateOf(slot.region, calendar, now);
  return isWithinHorizon && isEarlyEnough(slot, calendar, now);
}

/** The slots that may be booked now and begin at `from` (milliseconds UTC) or later, in the order of their beginnings. */
export function bookableSlots(
  region: AppointmentRegion,
  calendar: Calendar,
  { now, from }: { readonly now: number; readonly from: number },
): readonly AppointmentSlot[] {
  const last = lastDateOf(region, calendar, now);
  const slots: AppointmentSlot[] = [];
  const first = localTimeOf(Math.max(now, from), region.zone).slice(0, 10);
  for (let date = first; date <= last; date = dateAfter(date, 1)) {
    if (!isOpenOn(date, region, calendar)) continue;
    const day = dayOf(date, region.zone);
    const offered = region.windows.map((window) => slotOf(region, day, window));
    slots.push(...offered.filter((slot) => slot !== undefined));
  }
  return slots
    .filter((slot) => slot.startsAt >= from && isEarlyEnough(slot, calendar, now))
    .toSorted((left, right) => left.startsAt - right.startsAt || left.endsAt - right.endsAt);
}

const tagBytes = 9;
const keyLength = 16;

/** Binds an id to its company; ids that were cut or made up fail it. */
function tagOf(companyId: number, content: string): Buffer {
  return hash("sha256", `${companyId}\n${content}`, "buffer").subarray(0, tagBytes);
}

/** The public id of a slot: the same at each listing, and of no meaning in another company. */
export function slotIdOf(
  companyId: number,
  slot: { readonly key: string; readonly region: { readonly name: string } },
): string {
  const content = `${slot.key}${slot.region.name}`;
  return Buffer.concat([tagOf(companyId, content), Buffer.from(content)]).toString("base64url");
}

/** The slot that an id names in the company, as the configuration has it now; undefined when there is none. */
export function slotOfId(
  companyId: number,
  id: string,
  settings: AppointmentSettings,
): AppointmentSlot | undefined {
  const bytes = Buffer.from(id, "base64url");
  const content = bytes.subarray(tagBytes).toString();
  if (!tagOf(companyId, content).equals(bytes.subarray(0, tagBytes))) return undefined;
  const [key, name] = [content.slice(0, keyLength), content.slice(keyLength)];
  if (!isLocalDateTime(`${key}:00`)) return undefined;
  const [date, timeOfDay] = [key.slice(0, 10), key.slice(11)];
  const region = settings.regions.find((one) => one.name === name);
  const window = region?.windows.find(({ from }) => from === timeOfDay);
  if (region === undefined || window === undefined || !isOpenOn(date, region, settings)) return undefined;
  return slotOf(region, dayOf(date, region.zone), window);
}
