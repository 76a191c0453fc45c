import { expect, test } from "vitest";
import { weekdays } from "../time/weekday.ts";
import { isQuietAt, type QuietTime } from "./quiet-times.ts";

const nights: QuietTime = { days: weekdays, from: "20:00", to: "07:00" };
const weekend: QuietTime = { days: ["sat", "sun"], from: "00:00", to: "00:00" };
const lunch: QuietTime = { days: ["mon"], from: "12:00", to: "13:00" };
const fridayNight: QuietTime = { days: ["fri"], from: "22:00", to: "06:00" };

test.each([
  ["2026-11-05T19:59:59Z", [nights], "UTC", false],
  ["2026-11-05T20:00:00Z", [nights], "UTC", true],
  ["2026-11-06T06:59:59Z", [nights], "UTC", true],
  ["2026-11-06T07:00:00Z", [nights], "UTC", false],
  // 20:30 in Berlin.
  ["2026-11-05T19:30:00Z", [nights], "Europe/Berlin", true],
  // On the day on which clocks go back, 06:59 is an hour later than the day before.
  ["2026-10-25T05:59:00Z", [nights], "Europe/Berlin", true],
  ["2026-10-25T06:00:00Z", [nights], "Europe/Berlin", false],
  // On the day on which they go forward, an hour earlier.
  ["2026-03-29T04:59:00Z", [nights], "Europe/Berlin", true],
  ["2026-03-29T05:00:00Z", [nights], "Europe/Berlin", false],
  ["2026-11-06T23:59:00Z", [weekend], "UTC", false],
  ["2026-11-07T00:00:00Z", [weekend], "UTC", true],
  ["2026-11-08T23:59:00Z", [weekend], "UTC", true],
  ["2026-11-09T00:00:00Z", [weekend], "UTC", false],
  ["2026-11-09T12:30:00Z", [lunch, nights], "UTC", true],
  ["2026-11-10T12:30:00Z", [lunch, nights], "UTC", false],
  // The night that begins on Friday ends on Saturday; that of Saturday is none.
  ["2026-11-07T05:00:00Z", [fridayNight], "UTC", true],
  ["2026-11-07T23:00:00Z", [fridayNight], "UTC", false],
  ["2026-11-06T05:00:00Z", [fridayNight], "UTC", false],
  ["2026-11-06T05:00:00Z", [], "UTC", false],
] as const)("%s is quiet by %j in %s: %s", (at, quietTimes, zone, isQuiet) => {
  expect(isQuietAt(Date.parse(at), quietTimes, zone)).toBe(isQuiet);
});
