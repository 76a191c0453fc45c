import { describe, expect, test } from "vitest";
import { weekdays } from "../time/weekday.ts";
import {
  arrivalStanding,
  arrivalWindowsAt,
  type ExpectedArrivals,
  findLateArrivals,
} from "./expected-arrivals.ts";

const morning: ExpectedArrivals = {
  ...{ atLeast: 2, until: "07:00", zone: "Europe/Berlin", closedDays: [] },
  weekdays: ["mon", "tue", "wed", "thu", "fri"],
};
const everyDay = { ...morning, weekdays };

const at = (iso: string) => Date.parse(`${iso}Z`);
const iso = (moment: number | undefined) =>
  moment === undefined ? undefined : new Date(moment).toISOString().slice(0, 16);

function windowsAt(expected: ExpectedArrivals, now: string, since?: string) {
  const { last, next } = arrivalWindowsAt(expected, at(now), since === undefined ? 0 : at(since));
  return {
    last: last && [last.day, iso(last.beginsAt), iso(last.dueAt), iso(last.endsAt)],
    next: next && [next.day, iso(next.beginsAt), iso(next.dueAt)],
  };
}

describe("the windows of an expectation", () => {
  test("begin at midnight of the zone, are due at the time of day, and end where the next begins", () => {
    // Thursday, 5 November; Berlin is an hour ahead.
    expect(windowsAt(morning, "2026-11-05T12:00")).toEqual({
      last: ["2026-11-05", "2026-11-04T23:00", "2026-11-05T06:00", "2026-11-05T23:00"],
      next: ["2026-11-06", "2026-11-05T23:00", "2026-11-06T06:00"],
    });
  });

  test("pass at the very moment of the deadline", () => {
    expect(windowsAt(morning, "2026-11-05T05:59:59.999").next?.[0]).toBe("2026-11-05");
    expect(windowsAt(morning, "2026-11-05T06:00").last?.[0]).toBe("2026-11-05");
  });

  test("leave out the days of the week and the holidays that have none", () => {
    const friday = windowsAt({ ...morning, closedDays: ["2026-11-09"] }, "2026-11-07T12:00");
    expect(friday.last).toEqual(["2026-11-06", "2026-11-05T23:00", "2026-11-06T06:00", "2026-11-09T23:00"]);
    expect(friday.next?.[0]).toBe("2026-11-10");
  });

  test("begin on the day before when `from` is not before `until`", () => {
    const ofEvening = { ...everyDay, from: "18:00" };
    expect(windowsAt(ofEvening, "2026-11-05T12:00").next).toEqual([
      ...["2026-11-06", "2026-11-05T17:00", "2026-11-06T06:00"],
    ]);
    expect(windowsAt({ ...everyDay, from: "05:30" }, "2026-11-05T12:00").next?.[1]).toBe("2026-11-06T04:30");
    expect(windowsAt({ ...everyDay, from: "07:00" }, "2026-11-05T12:00").next?.[1]).toBe("2026-11-05T06:00");
    expect(windowsAt({ ...everyDay, until: "24:00" }, "2026-11-05T12:00").next).toEqual([
      ...["2026-11-05", "2026-11-04T23:00", "2026-11-05T23:00"],
    ]);
  });

  test("are none when no day is left, and none from before the company was there", () => {
    expect(windowsAt({ ...morning, weekdays: [] }, "2026-11-05T12:00")).toEqual({});
    expect(windowsAt(morning, "2026-11-05T12:00", "2026-11-05T06:00").last).toBeUndefined();
    expect(windowsAt(morning, "2026-11-05T12:00", "2026-11-05T05:59").last?.[0]).toBe("2026-11-05");
  });

  test.each([
    // Forward at 02:00 to 03:00: the day has 23 hours, and 02:30 is the moment after the gap.
    ["Europe/Berlin", "2026-03-29", "07:00", "2026-03-28T23:00", "2026-03-29T05:00"],
    ["Europe/Berlin", "2026-03-29", "02:30", "2026-03-28T23:00", "2026-03-29T01:00"],
    // Back at 03:00 to 02:00: the day has 25 hours, and the first 02:30 counts.
    ["Europe/Berlin", "2026-10-25", "07:00", "2026-10-24T22:00", "2026-10-25T06:00"],
    ["Europe/Berlin", "2026-10-25", "02:30", "2026-10-24T22:00", "2026-10-25T00:30"],
    ["America/New_York", "2026-11-01", "07:00", "2026-11-01T04:00", "2026-11-01T12:00"],
    // Forward at midnight: the day begins at 01:00. Back at midnight: the evening before comes twice.
    ["America/Sao_Paulo", "2018-11-04", "07:00", "2018-11-04T03:00", "2018-11-04T09:00"],
    ["America/Sao_Paulo", "2018-02-18", "07:00", "2018-02-18T03:00", "2018-02-18T10:00"],
    ["UTC", "2026-03-29", "07:00", "2026-03-29T00:00", "2026-03-29T07:00"],
  ])("in %s on %s until %s", (zone, day, until, beginsAt, dueAt) => {
    const expected = { ...everyDay, zone, until };
    const before = arrivalWindowsAt(expected, at(dueAt) - 1);
    expect([before.next?.day, iso(before.next?.beginsAt), iso(before.next?.dueAt)]).toEqual([
      ...[day, beginsAt, dueAt],
    ]);
    expect(arrivalWindowsAt(expected, at(dueAt)).last?.day).toBe(day);
  });

  test.each(["Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "Asia/Kolkata"])(
    "in %s each day of a year has one, and no moment is in two or in none",
    (zone) => {
      for (const from of ["00:00", "18:00"]) {
        const expected = { ...everyDay, zone, from, until: "07:00" };
        const begin = Date.UTC(2018, 0, 1);
        let window = arrivalWindowsAt(expected, begin).next;
        const firstDay = at(`${window?.day}T00:00`);
        for (let days = 1; days <= 365 && window !== undefined; days += 1) {
          const { last, next } = arrivalWindowsAt(expected, window.dueAt);
          expect(last).toEqual({ ...window, endsAt: next?.beginsAt });
          expect(next?.beginsAt).toBeGreaterThanOrEqual(window.dueAt);
          window = next;
        }
        expect(window?.day).toBe(new Date(firstDay + 365 * 86_400_000).toISOString().slice(0, 10));
      }
    },
  );
});

describe("an expectation stands", () => {
  const moments = (files: readonly string[]) => files.map((file) => at(`2026-11-${file}`)).toSorted();

  function counting(files: readonly string[]) {
    return async ({ beginsAt, endsAt = Number.POSITIVE_INFINITY }: { beginsAt: number; endsAt?: number }) => {
      const inIt = moments(files).filter((file) => file >= beginsAt && file < endsAt);
      const enoughAt = inIt[1];
      return { count: inIt.length, ...(enoughAt === undefined ? {} : { enoughAt }) };
    };
  }

  async function standing(files: readonly string[], now: string) {
    const moment = at(`2026-11-${now}`);
    const windows = arrivalWindowsAt(morning, moment);
    const come = files.filter((file) => at(`2026-11-${file}`) <= moment);
    const { kind, ...rest } = await arrivalStanding(morning, windows, moment, counting(come));
    const late = await findLateArrivals(windows, moment, counting(come));
    expect(late !== undefined).toBe(kind === "late");
    return "count" in rest ? [kind, rest.day.slice(8), rest.count, iso(rest.enoughAt)?.slice(8)] : [kind];
  }

  // Wednesday the 4th is met; what comes on Thursday is looked at.
  const before = ["04T03:00", "04T04:00"];

  test.each([
    ["is due as long as there are too few", ["05T03:00"], "05T05:59", ["due", "05", 1, undefined]],
    [
      "is met with the file by which there are enough",
      ["05T03:00", "05T04:12", "05T05:00"],
      "05T05:30",
      [...["met", "05", 3, "05T04:12"]],
    ],
    [
      "stays met until the end of its day",
      ["05T03:00", "05T04:12"],
      "05T22:59",
      ["met", "05", 2, "05T04:12"],
    ],
    [
      "is due anew when the next day begins",
      ["05T03:00", "05T04:12"],
      "05T23:00",
      ["due", "06", 0, undefined],
    ],
    ["is late from the deadline on", ["05T03:00"], "05T06:00", ["late", "05", 1, undefined]],
    ["is late with none as well", [], "05T08:00", ["late", "05", 0, undefined]],
    [
      "is met by files after the deadline, at their time",
      ["05T03:00", "05T08:15"],
      "05T08:15",
      [...["met", "05", 2, "05T08:15"]],
    ],
    ["stays late when the next day has begun", ["05T03:00"], "06T01:00", ["late", "05", 1, undefined]],
    [
      "is not made good by one file of the next day",
      ["05T03:00", "06T01:00"],
      "06T02:00",
      ["late", "05", 1, undefined],
    ],
    [
      "is met when those of the next day are there",
      ["06T01:00", "06T02:00"],
      "06T03:00",
      [...["met", "06", 2, "06T02:00"]],
    ],
    ["is late for the next day when its deadline passes too", [], "06T06:00", ["late", "06", 0, undefined]],
    ["stays late over a weekend", ["05T03:00", "05T04:00"], "08T12:00", ["late", "06", 0, undefined]],
    [
      "is met by files that come at the weekend",
      ["05T03:00", "05T04:00", "07T03:00", "07T04:00"],
      "08T12:00",
      ["none"],
    ],
  ])("%s", async (_, files, now, expected) => {
    expect(await standing([...before, ...files], now)).toEqual(expected);
  });
});
