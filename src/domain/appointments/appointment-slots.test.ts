import { describe, expect, it } from "vitest";
import type { AppointmentRegion, AppointmentSettings } from "./appointment-region.ts";
import { weekdays } from "../time/weekday.ts";
import { noAppointments } from "./appointment-region.ts";
import { type AppointmentSlot, bookableSlots, slotIdOf, slotOfId } from "./appointment-slots.ts";
import { localTimeOf } from "../time/zoned-time.ts";

const utc = (text: string) => Date.parse(`${text}Z`);
const capacity = { appointments: 1 };
const windows = (...times: readonly string[]) =>
  times.map((time) => ({ from: time.slice(0, 5), to: time.slice(6), capacity }));

function regionIn(zone: string, ...times: readonly string[]): AppointmentRegion {
  return {
    ...{ name: "R", zone, countries: [], zipPrefixes: [], partners: [], schedulingAttributes: [] },
    ...{ weekdays, windows: windows(...times) },
  };
}

const calendar = { ...noAppointments, horizonDays: 1 };

/** The slots as `2026-03-29T08:00-10:00 2h`: local times and real length. */
function shown(slots: readonly AppointmentSlot[]): readonly string[] {
  return slots.map(({ startsAt, endsAt, region: { zone } }) => {
    const [from, to] = [localTimeOf(startsAt, zone), localTimeOf(endsAt, zone)];
    return `${from.slice(0, 16)}-${to.slice(11, 16)} ${(endsAt - startsAt) / 3_600_000}h`;
  });
}

interface Asked {
  readonly now: string;
  readonly from?: string;
  readonly settings?: Partial<AppointmentSettings>;
}

function listed(region: AppointmentRegion, { now, from = now, settings = {} }: Asked): readonly string[] {
  return shown(bookableSlots(region, { ...calendar, ...settings }, { now: utc(now), from: utc(from) }));
}

describe("the slots of a region", () => {
  const springfield = regionIn("America/Chicago", "08:00-12:00", "13:00-17:00");

  it("are its windows in its zone, from now to the last day of the horizon", () => {
    // 14:30 UTC is 08:30 in Chicago: the first window has begun.
    expect(listed(springfield, { now: "2026-11-05T14:30:00" })).toEqual([
      "2026-11-05T13:00-17:00 4h",
      "2026-11-06T08:00-12:00 4h",
      "2026-11-06T13:00-17:00 4h",
    ]);
  });

  it("go by the local date, not that of UTC", () => {
    // It is still the 5th in Chicago.
    expect(listed(springfield, { now: "2026-11-06T03:00:00", settings: { horizonDays: 0 } })).toEqual([]);
    expect(listed(springfield, { now: "2026-11-06T03:00:00" })).toHaveLength(2);
  });

  it("begin at the wanted time or later, and a wanted time in the past is now", () => {
    const now = "2026-11-05T14:30:00";
    expect(listed(springfield, { now, from: "2026-11-06T14:00:00" })).toEqual([
      "2026-11-06T08:00-12:00 4h",
      "2026-11-06T13:00-17:00 4h",
    ]);
    expect(listed(springfield, { now, from: "2026-11-06T14:00:01" })).toHaveLength(1);
    expect(listed(springfield, { now, from: "2020-01-01T00:00:00" })).toHaveLength(3);
    expect(listed(springfield, { now, from: "2027-01-01T00:00:00" })).toEqual([]);
  });

  it("are there until the lead time before they begin, to the minute", () => {
    const settings = { leadMinutes: 60, horizonDays: 0 };
    expect(listed(springfield, { now: "2026-11-05T13:00:00", settings })).toHaveLength(2);
    expect(listed(springfield, { now: "2026-11-05T13:00:01", settings })).toHaveLength(1);
  });

  it("that begin at this very moment are past", () => {
    expect(listed(springfield, { now: "2026-11-05T14:00:00", settings: { horizonDays: 0 } })).toHaveLength(1);
  });

  it("leave out closed days and other days of the week", () => {
    const now = "2026-11-05T06:00:00";
    const closedDays = ["2026-11-05", "2026-11-08"];
    const days = listed(springfield, { now, settings: { horizonDays: 4, closedDays } });
    expect(days.map((slot) => slot.slice(0, 10))).toEqual([
      ...["2026-11-06", "2026-11-06", "2026-11-07", "2026-11-07", "2026-11-09", "2026-11-09"],
    ]);
    const workdays = { ...springfield, weekdays: ["fri", "mon"] as const };
    const some = listed(workdays, { now, settings: { horizonDays: 4 } });
    expect(some.map((slot) => slot.slice(0, 10))).toEqual([
      ...["2026-11-06", "2026-11-06", "2026-11-09", "2026-11-09"],
    ]);
  });

  it("come in the order of their beginnings, whatever that of the configuration", () => {
    const region = regionIn("UTC", "13:00-14:00", "08:00-18:00", "00:00-24:00");
    expect(listed(region, { now: "2026-11-05T00:00:00" })).toEqual([
      "2026-11-05T08:00-18:00 10h",
      "2026-11-05T13:00-14:00 1h",
      "2026-11-06T00:00-00:00 24h",
      "2026-11-06T08:00-18:00 10h",
      "2026-11-06T13:00-14:00 1h",
    ]);
  });

  it("cover fourteen days and today by default", () => {
    expect(listed(springfield, { now: "2026-11-05T06:00:00", settings: { horizonDays: 14 } })).toHaveLength(
      30,
    );
  });
});

describe("on days on which clocks change", () => {
  const night = ["00:00-02:00", "01:30-02:30", "02:00-03:00", "02:15-02:45", "02:30-04:00", "03:00-04:00"];

  it.each([
    ["Europe/Berlin", "2026-03-28T23:00:00", "2026-03-29"],
    ["America/New_York", "2026-03-08T05:00:00", "2026-03-08"],
  ])("%s skips the windows in the gap and cuts those that reach into it", (zone, midnight, date) => {
    const settings = { horizonDays: 0 };
    expect(
      shown(
        bookableSlots(
          regionIn(zone, ...night),
          { ...calendar, ...settings },
          { now: utc(midnight) - 1, from: 0 },
        ),
      ),
    ).toEqual([]);
    expect(listed(regionIn(zone, ...night), { now: midnight, settings })).toEqual([
      `${date}T01:30-03:00 0.5h`,
      `${date}T03:00-04:00 1h`,
      `${date}T03:00-04:00 1h`,
    ]);
  });

  it.each([
    ["Europe/Berlin", "2026-10-24T22:00:00", "2026-10-25"],
    ["America/New_York", "2026-11-01T04:00:00", "2026-11-01"],
  ])("%s lists each window once, from the first of two equal times", (zone, midnight, date) => {
    const hour = zone === "Europe/Berlin" ? 2 : 1;
    const at = (minutes: number) =>
      `0${hour + Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}`;
    const region = regionIn(
      zone,
      `00:00-${at(0)}`,
      `${at(0)}-${at(30)}`,
      `${at(30)}-${at(60)}`,
      `${at(60)}-${at(120)}`,
    );
    expect(listed(region, { now: midnight, settings: { horizonDays: 0 } })).toEqual([
      `${date}T${at(0)}-${at(30)} 0.5h`,
      `${date}T${at(30)}-${at(60)} 1.5h`,
      `${date}T${at(60)}-${at(120)} 1h`,
    ]);
  });

  it("a day that has 23 or 25 hours keeps its other windows at their local times", () => {
    const region = regionIn("Europe/Berlin", "08:00-12:00", "00:00-24:00");
    expect(listed(region, { now: "2026-03-28T12:00:00" })).toEqual([
      "2026-03-29T00:00-00:00 23h",
      "2026-03-29T08:00-12:00 4h",
    ]);
    expect(listed(region, { now: "2026-10-24T12:00:00" })).toEqual([
      "2026-10-25T00:00-00:00 25h",
      "2026-10-25T08:00-12:00 4h",
    ]);
  });

  it("a day without midnight begins when the gap ends", () => {
    // Lebanon goes from 24:00 to 01:00.
    const region = regionIn("Asia/Beirut", "00:00-00:30", "00:30-02:00");
    expect(listed(region, { now: "2026-03-28T00:00:00" })).toEqual(["2026-03-29T01:00-02:00 1h"]);
  });

  it.each(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Beirut", "UTC"])(
    "of a year %s lists no slot twice, none that ends before it begins, and finds each by its id",
    (zone) => {
      const hours = Array.from({ length: 24 }, (_, hour) => `${hour}`.padStart(2, "0"));
      const region = regionIn(zone, ...hours.map((hour, at) => `${hour}:00-${hours[at + 1] ?? "24"}:00`));
      const settings = { ...calendar, horizonDays: 366, regions: [region] };
      const slots = bookableSlots(region, settings, { now: utc("2026-01-01T12:00:00"), from: 0 });
      expect(slots.length).toBeGreaterThan(365 * 24 - 2);
      expect(new Set(slots.map(({ key }) => key)).size).toBe(slots.length);
      for (const [at, slot] of slots.entries()) {
        expect(slot.endsAt).toBeGreaterThan(slot.startsAt);
        const local = [slot.startsAt, slot.endsAt].map((moment) => localTimeOf(moment, zone));
        expect([slot.timeFrom, slot.timeTo]).toEqual(local);
        // Back to back: no hour is lost and none is there twice.
        if (at > 0) expect(slots[at - 1]?.endsAt).toBe(slot.startsAt);
        if (at % 50 === 0) expect(slotOfId(1, slotIdOf(1, slot), settings)).toEqual(slot);
      }
    },
  );
});

describe("the id of a slot", () => {
  const region = { ...regionIn("UTC", "08:00-12:00"), name: "Süd/Ost 1" };
  const settings = { ...calendar, regions: [region] };
  const [slot] = bookableSlots(region, settings, { now: utc("2026-11-05T00:00:00"), from: 0 });
  if (slot === undefined) throw new Error("there is no slot");
  const id = slotIdOf(7, slot);

  it("is the same at each time, one part of an address, and leads back to its slot", () => {
    expect(slotIdOf(7, slot)).toBe(id);
    expect(id).toMatch(/^[\w-]+$/);
    expect(slotOfId(7, id, settings)).toEqual(slot);
  });

  it("means nothing in another company", () => {
    expect(slotOfId(8, id, settings)).toBeUndefined();
  });

  it.each([
    "",
    "x",
    "AAAA",
    id.slice(1),
    id.slice(0, -2),
    `${id}AA`,
    id.toLowerCase(),
    "%",
    "ä",
    "../..",
    "\0",
  ])("is not %j", (made) => expect(slotOfId(7, made, settings)).toBeUndefined());

  it("means nothing any more when the configuration has no such slot", () => {
    const without = (change: Partial<AppointmentRegion>) => ({
      ...settings,
      regions: [{ ...region, ...change }],
    });
    expect(slotOfId(7, id, without({ name: "Other" }))).toBeUndefined();
    expect(slotOfId(7, id, without({ windows: windows("09:00-12:00") }))).toBeUndefined();
    expect(slotOfId(7, id, without({ weekdays: ["mon"] }))).toBeUndefined();
    expect(slotOfId(7, id, { ...settings, closedDays: ["2026-11-05"] })).toBeUndefined();
    expect(slotOfId(7, id, { ...settings, regions: [] })).toBeUndefined();
    expect(slotOfId(7, id, without({ windows: windows("08:00-10:00") }))?.endsAt).toBe(
      utc("2026-11-05T10:00:00"),
    );
  });
});
