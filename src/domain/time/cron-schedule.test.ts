import { cpuRatio } from "../../../test/support/cpu-time.ts";
import { describe, expect, test } from "vitest";
import { type CronSchedule, nextDue, readCronSchedule } from "./cron-schedule.ts";
import { localTimeOf } from "./zoned-time.ts";

function schedule(text: string): CronSchedule {
  const reading = readCronSchedule(text);
  if (reading.kind === "faulty") throw new Error(reading.fault);
  return reading.schedule;
}

function at(iso: string): number {
  return Date.parse(`${iso}Z`);
}

/** The local times at which it is due, from one moment until another. */
function dueTimes(text: string, zone: string, [from, until]: readonly [string, string]): string[] {
  const read = schedule(text);
  const times = [];
  for (let due = nextDue(read, zone, at(from)); due < at(until); due = nextDue(read, zone, due))
    times.push(localTimeOf(due, zone).slice(0, 16));
  return times;
}

describe("the next time of a schedule in UTC", () => {
  test.each([
    ["30 2 * * *", "2026-11-05T02:29:59", "2026-11-05T02:30:00"],
    ["30 2 * * *", "2026-11-05T02:30:00", "2026-11-06T02:30:00"],
    ["* * * * *", "2026-11-05T02:30:00", "2026-11-05T02:31:00"],
    ["*/15 * * * *", "2026-11-05T02:46:00", "2026-11-05T03:00:00"],
    ["10-40/15 8-17/3 * * *", "2026-11-05T11:26:00", "2026-11-05T11:40:00"],
    ["0 9,17 * * *", "2026-11-05T09:00:00", "2026-11-05T17:00:00"],
    ["0 0 1 * *", "2026-12-15T00:00:00", "2027-01-01T00:00:00"],
    ["0 0 31 * *", "2026-02-01T00:00:00", "2026-03-31T00:00:00"],
    ["0 0 29 2 *", "2096-03-01T00:00:00", "2104-02-29T00:00:00"],
    ["0 0 * JAN,jul *", "2026-02-01T00:00:00", "2026-07-01T00:00:00"],
    ["0 6 * * MON-FRI", "2026-11-06T06:00:00", "2026-11-09T06:00:00"],
    ["0 6 * * 7", "2026-11-05T06:00:00", "2026-11-08T06:00:00"],
    ["0 6 * * 0", "2026-11-05T06:00:00", "2026-11-08T06:00:00"],
    ["0 6 * * sat-sun", "2026-11-07T06:00:00", "2026-11-08T06:00:00"],
    ["0 6 * * 5-7", "2026-11-07T06:00:00", "2026-11-08T06:00:00"],
    ["  0\t6  * * *  ", "2026-11-07T06:00:00", "2026-11-08T06:00:00"],
  ])("%s after %s is %s", (text, after, expected) => {
    expect(new Date(nextDue(schedule(text), "UTC", at(after))).toISOString().slice(0, 19)).toBe(expected);
  });

  test("with both kinds of day is on either of them, and with a * in one on days that fit both", () => {
    const november = ["2026-11-01T00:00:00", "2026-12-01T00:00:00"] as const;
    const daysOf = (text: string) => dueTimes(text, "UTC", november).map((time) => time.slice(8, 10));
    expect(daysOf("0 12 13 * FRI")).toEqual(["06", "13", "20", "27"]);
    expect(daysOf("0 12 15 * FRI")).toEqual(["06", "13", "15", "20", "27"]);
    expect(daysOf("0 12 * * FRI")).toEqual(["06", "13", "20", "27"]);
    expect(daysOf("0 12 */2 * FRI")).toEqual(["13", "27"]);
  });

  test("of a rare one costs no walk through all the minutes before it", () => {
    const next = (text: string, from: string) => nextDue(schedule(text), "Europe/Berlin", at(from));
    const ratio = cpuRatio(
      () => void next("0 0 29 2 *", "2097-01-01T00:00:00"),
      () => {
        for (let day = 1; day <= 28; day++)
          next("0 12 * * *", `2026-02-${String(day).padStart(2, "0")}T00:00:00`);
      },
    );
    expect(ratio).toBeLessThan(500);
  });
});

describe("a schedule that cannot be read is refused with what to write:", () => {
  test.each([
    ["", "has 0 fields, not five"],
    ["30 2 * *", "has 4 fields, not five"],
    ["0 30 2 * * *", "has 6 fields, not five"],
    ["@daily", "has 1 fields, not five"],
    ["60 2 * * *", "has `60` as minute: write 0 to 59"],
    ["-1 2 * * *", "as minute"],
    ["0 24 * * *", "has `24` as hour: write 0 to 23"],
    ["0 0 0 * *", "has `0` as day of month: write 1 to 31"],
    ["0 0 * 13 *", "has `13` as month: write 1 to 12 or JAN to DEC"],
    ["0 0 * FOO *", "has `FOO` as month"],
    ["0 0 * * 8", "has `8` as day of week: write 0 to 7 or SUN to SAT"],
    ["0 0 * * MONDAY", "has `MONDAY` as day of week"],
    ["0 0 L * *", "has `L` as day of month"],
    ["0 0 ? * MON", "has `?` as day of month"],
    ["0 0 * * 1#2", "has `1#2` as day of week"],
    ["5/10 * * * *", "a step needs a range (5-59/10)"],
    ["*/0 * * * *", "has the step `0` in minute"],
    ["*/x * * * *", "has the step `x` in minute"],
    ["*/2/2 * * * *", "has `*/2/2` as minute"],
    ["40-10 * * * *", "ends before it begins: write two ranges"],
    ["0 0 * * FRI-MON", "ends before it begins"],
    ["1-2-3 * * * *", "has `1-2-3` as minute"],
    ["1,,2 * * * *", "has `` as minute"],
    ["0 0 30 2 *", "names a day that no month of it has"],
    ["0 0 31 4,6,9,11 *", "names a day that no month of it has"],
  ])("%j", (text, expected) => {
    const reading = readCronSchedule(text);
    expect(reading.kind === "faulty" ? reading.fault : "read").toContain(expected);
  });
});

describe("when the clocks change", () => {
  test.each([
    // Forward at 02:00, back at 03:00.
    ["Europe/Berlin", "30 2 * * *", "2026-03-29T03:00", "2026-10-25T02:30"],
    ["America/New_York", "30 2 * * *", "2026-03-08T03:00", "2026-11-01T02:30"],
    ["America/New_York", "30 1 * * *", "2026-03-08T01:30", "2026-11-01T01:30"],
    // Half an hour: forward at 02:00 to 02:30, back at 02:00 to 01:30.
    ["Australia/Lord_Howe", "15 2 * * *", "2026-10-04T02:30", "2026-04-05T02:15"],
    ["Australia/Lord_Howe", "45 1 * * *", "2026-10-04T01:45", "2026-04-05T01:45"],
    // At midnight: forward from 00:00 to 01:00, back from 00:00 to 23:00.
    ["America/Sao_Paulo", "0 0 * * *", "2018-11-04T01:00", "2018-02-18T00:00"],
    ["America/Sao_Paulo", "30 0 * * *", "2018-11-04T01:00", "2018-02-18T00:30"],
    ["America/Sao_Paulo", "30 23 * * *", "2018-11-04T23:30", "2018-02-17T23:30"],
  ])("in %s, %s is due once on every day of the year", (...[zone, text, onSkip, onRepeat]) => {
    const year = onSkip.slice(0, 4);
    const times = dueTimes(text, zone, [`${year}-01-02T00:00:00`, `${year}-12-31T00:00:00`]);
    const days = times.map((time) => time.slice(0, 10));
    const all = Array.from({ length: times.length }, (_day, index) =>
      new Date(at(`${days[0]}T00:00:00`) + index * 86_400_000).toISOString().slice(0, 10),
    );
    expect(times.length).toBeGreaterThan(361);
    expect(days).toEqual(all);
    const usual = times[10]?.slice(11);
    const unusual = times.filter((time) => time.slice(11) !== usual);
    expect(unusual).toEqual(onSkip.slice(11) === usual ? [] : [onSkip]);
    expect(times).toContain(onRepeat);
  });

  test("a time that comes twice is due at the first of the two moments, and not again at the second", () => {
    const berlin = schedule("30 2 * * *");
    const first = at("2026-10-25T00:30:00");
    expect(nextDue(berlin, "Europe/Berlin", at("2026-10-24T12:00:00"))).toBe(first);
    for (const later of [first, first + 600_000, first + 3_600_000, first + 3_600_001])
      expect(nextDue(berlin, "Europe/Berlin", later)).toBe(at("2026-10-26T01:30:00"));
  });

  test("a time that is skipped is due at the very moment at which the gap ends", () => {
    const berlin = schedule("30 2 * * *");
    expect(nextDue(berlin, "Europe/Berlin", at("2026-03-28T12:00:00"))).toBe(at("2026-03-29T01:00:00"));
    expect(nextDue(berlin, "Europe/Berlin", at("2026-03-29T00:59:59"))).toBe(at("2026-03-29T01:00:00"));
    expect(nextDue(berlin, "Europe/Berlin", at("2026-03-29T01:00:00"))).toBe(at("2026-03-30T00:30:00"));
  });

  test("several times within a gap, and the one at its end, are due as one", () => {
    const times = dueTimes("*/15 1-3 * * *", "Europe/Berlin", ["2026-03-29T00:30:00", "2026-03-29T01:20:00"]);
    expect(times).toEqual(["2026-03-29T01:45", "2026-03-29T03:00", "2026-03-29T03:15"]);
  });

  test("the day that Apia left out is due when the next one begins", () => {
    const times = dueTimes("30 2 * * *", "Pacific/Apia", ["2011-12-29T00:00:00", "2012-01-01T10:00:00"]);
    expect(times).toEqual(["2011-12-29T02:30", "2011-12-31T00:00", "2011-12-31T02:30", "2012-01-01T02:30"]);
  });

  test.each(["Asia/Kathmandu", "Africa/Casablanca", "Antarctica/Troll", "Asia/Gaza", "Pacific/Chatham"])(
    "in %s no schedule is due at or before the moment it is asked about",
    (zone) => {
      for (const text of ["*/10 * * * *", "30 2 * * *", "0 0 * * *", "59 23 * * SUN"]) {
        const read = schedule(text);
        let last = at("2026-01-01T00:00:00");
        for (let count = 0; count < 400; count += 1) {
          const due = nextDue(read, zone, last);
          expect(due).toBeGreaterThan(last);
          expect(nextDue(read, zone, due - 1)).toBe(due);
          last = due;
        }
      }
    },
  );
});

describe("against a walk over every minute", () => {
  const minute = 60_000;
  const zones = [
    ["Europe/Berlin", "2026-03-27", "2026-10-23"],
    ["America/New_York", "2026-03-06", "2026-10-30"],
    ["Australia/Lord_Howe", "2026-10-02", "2026-04-03"],
    ["America/Sao_Paulo", "2018-11-02", "2018-02-16"],
    ["Pacific/Apia", "2011-12-28", "2011-12-30"],
    ["Antarctica/Troll", "2026-03-27", "2026-10-23"],
    ["Asia/Kolkata", "2026-03-27", "2026-10-23"],
  ] as const;
  const texts = [
    "30 2 * * *",
    "*/20 * * * *",
    "0,59 0-3 * * *",
    "15 */2 * * SUN",
    "45 23 30 * *",
    "1 0 29-31 * SAT",
  ];

  /** Whether a wall time is named, read from the text anew. */
  function isNamed(text: string, wall: number): boolean {
    const date = new Date(wall);
    const values = [date.getUTCMinutes(), date.getUTCHours(), date.getUTCDate()];
    const isIn = (field: string, value: number, [least, greatest]: readonly [number, number]) =>
      field.split(",").some((part) => {
        const [base = "", step = "1"] = part.split("/");
        const [from = 0, to = from] = base === "*" ? [least, greatest] : base.split("-").map(Number);
        return value >= from && value <= to && (value - from) % Number(step) === 0;
      });
    const [minutes = "", hours = "", days = "", , week = ""] = text.split(" ");
    const fitsDay = isIn(days, values[2] ?? 0, [1, 31]);
    const fitsWeek =
      week === "*" || date.getUTCDay() === ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"].indexOf(week);
    const isEither = days !== "*" && week !== "*";
    const fits = isEither ? fitsDay || fitsWeek : fitsDay && fitsWeek;
    return fits && isIn(hours, values[1] ?? 0, [0, 23]) && isIn(minutes, values[0] ?? 0, [0, 59]);
  }

  const lengthMs = 3.5 * 1_440 * minute;

  interface Look {
    readonly now: number;
    readonly wall: number;
  }

  /** What the clocks show at each minute. */
  function looksFrom(from: number, zone: string): readonly Look[] {
    return Array.from({ length: lengthMs / minute }, (_look, index) => {
      const now = from + index * minute;
      return { now, wall: at(localTimeOf(now, zone)) };
    });
  }

  /** Each named wall time once: when the clocks first come to it, or first have passed it. */
  function walked(text: string, looks: readonly Look[]): number[] {
    const due = new Set<number>();
    let reached = looks[0]?.wall ?? 0;
    for (const { now, wall } of looks)
      for (; reached < wall; reached += minute) if (isNamed(text, reached + minute)) due.add(now);
    return [...due];
  }

  test.each(zones)("%s is right around both changes of its clocks", (zone, ...days) => {
    for (const day of days) {
      const from = at(`${day}T00:00:00`);
      const looks = looksFrom(from, zone);
      for (const text of texts) {
        const found = [];
        let now = nextDue(schedule(text), zone, from);
        for (; now < from + lengthMs; now = nextDue(schedule(text), zone, now)) found.push(now);
        expect(found, `${text} from ${day}`).toEqual(walked(text, looks));
      }
    }
  });
});
