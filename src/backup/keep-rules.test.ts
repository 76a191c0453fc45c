import { expect, test } from "vitest";
import { type KeepRules, outdatedBackups } from "./keep-rules.ts";

const none: KeepRules = { daily: 0, weekly: 0, monthly: 0, zone: "UTC" };

function backupsAt(...times: readonly string[]) {
  return times.map((time) => ({ name: time, folder: time, begunAt: Date.parse(`${time}Z`) }));
}

function kept(times: readonly string[], rules: Partial<KeepRules>, made = times.at(-1)): string[] {
  const backups = backupsAt(...times);
  const outdated = new Set(outdatedBackups(backups, { ...none, ...rules }, Date.parse(`${made}Z`)));
  return backups.filter((one) => !outdated.has(one)).map(({ name }) => name);
}

/** One a day, at two in the morning. */
function daily(from: string, count: number): string[] {
  const at = Date.parse(`${from}T02:00:00Z`);
  return Array.from({ length: count }, (_, day) =>
    new Date(at + day * 86_400_000).toISOString().slice(0, 19),
  );
}

test("without a rule all backups are kept", () => {
  const all = daily("2026-01-01", 30);
  expect(kept(all, {})).toEqual(all);
});

test("the newest of each day is kept, of as many days as there are backups of", () => {
  const times = ["2026-03-01T02:00:00", "2026-03-01T14:00:00", "2026-03-04T02:00:00", "2026-03-09T02:00:00"];
  expect(kept(times, { daily: 2 })).toEqual(times.slice(2));
  expect(kept(times, { daily: 3 })).toEqual(times.slice(1));
  expect(kept(times, { daily: 9 })).toEqual(times.slice(1));
});

test("seven days, four weeks and twelve months of a year keep what no other rule keeps: two more weeks, ten more months", () => {
  const all = daily("2025-01-01", 400);
  const left = kept(all, { daily: 7, weekly: 4, monthly: 12 });
  expect(left.slice(-7)).toEqual(all.slice(-7));
  // 2026-02-04 is the last day: a Wednesday. Sundays end weeks; months end with their last day.
  expect(left.slice(0, -7)).toEqual(
    [
      ...["2025-03-31", "2025-04-30", "2025-05-31", "2025-06-30", "2025-07-31", "2025-08-31", "2025-09-30"],
      ...["2025-10-31", "2025-11-30", "2025-12-31", "2026-01-18", "2026-01-25"],
    ].map((day) => `${day}T02:00:00`),
  );
});

test("days are those of the zone", () => {
  // Two evenings in New York, one day in UTC.
  const times = ["2026-03-02T01:00:00", "2026-03-02T23:00:00"];
  expect(kept(times, { daily: 5 })).toEqual(times.slice(1));
  expect(kept(times, { daily: 5, zone: "America/New_York" })).toEqual(times);
});

test("the one that was just made is kept beside one of a clock that was ahead, which takes no place", () => {
  const ahead = "2031-01-01T02:00:00";
  const [first = "", second = "", made = ""] = daily("2026-03-01", 3);
  const all = [first, second, made, ahead];
  expect(kept(all, { daily: 1 }, made)).toEqual([made, ahead]);
  expect(kept(all, { daily: 2 }, made)).toEqual([second, made, ahead]);
});

test("the newest is kept whatever the rules say", () => {
  expect(kept(["2026-03-02T01:00:00"], { monthly: 1 })).toEqual(["2026-03-02T01:00:00"]);
});
