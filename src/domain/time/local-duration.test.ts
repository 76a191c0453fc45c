import { expect, test } from "vitest";
import { minutesBetweenLocal } from "./local-duration.ts";
import { minutesBetween, momentOf } from "./zoned-time.ts";

test.each([
  ["2026-11-05T08:00:00", "America/Chicago", "2026-11-05T08:25:31", "America/Chicago", 26],
  ["2026-11-05T08:25:00", "America/Chicago", "2026-11-05T08:00:00", "America/Chicago", 0],
  ["2026-11-05T23:50:00", "America/Chicago", "2026-11-06T00:10:00", "America/Chicago", 20],
  ["2026-11-05T09:00:00", "EST", "2026-11-05T08:30:00", "CST", 30],
  // Clocks go forward at 02:00, and back at 03:00.
  ["2026-03-29T01:30:00", "Europe/Berlin", "2026-03-29T03:30:00", "Europe/Berlin", 60],
  ["2026-10-25T01:30:00", "Europe/Berlin", "2026-10-25T03:30:00", "Europe/Berlin", 180],
])("from %s %s to %s %s it is %i minutes", (from, zone, to, other, minutes) => {
  expect(minutesBetweenLocal({ local: from, zone }, { local: to, zone: other })).toBe(minutes);
});

test.each([
  ["2026-02-30T08:00:00", "UTC"],
  ["2026-11-05T08:00:00", "Nowhere/Town"],
])("%s %s is no time, so there are no minutes from it", (local, zone) => {
  expect(minutesBetweenLocal({ local, zone }, { local: "2026-11-05T08:00:00", zone: "UTC" })).toBeUndefined();
});

test("on every day of a year it is what the two moments say", () => {
  for (const zone of [
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Africa/Casablanca",
    "EST",
  ]) {
    for (let day = 0; day < 365; day += 1) {
      const date = new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10);
      const [from, to] = [`${date}T00:10:00`, `${date}T14:40:00`];
      expect(minutesBetweenLocal({ local: from, zone }, { local: to, zone }), `${zone} ${date}`).toBe(
        minutesBetween(momentOf(from, zone), momentOf(to, zone)),
      );
    }
  }
});
