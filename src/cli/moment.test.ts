import { expect, test } from "vitest";
import { readMoment } from "./moment.ts";

const now = Date.UTC(2026, 10, 5, 12);

test.each([
  ["2026-11-05", Date.UTC(2026, 10, 5)],
  ["2026-11-05T08:30", Date.UTC(2026, 10, 5, 8, 30)],
  ["2026-11-05T08:30:15", Date.UTC(2026, 10, 5, 8, 30, 15)],
  ["2026-11-05T08:30:15.250Z", Date.UTC(2026, 10, 5, 8, 30, 15, 250)],
  ["2026-11-05T08:30+01:00", Date.UTC(2026, 10, 5, 7, 30)],
  [" 90m ", Date.UTC(2026, 10, 5, 10, 30)],
  ["24h", Date.UTC(2026, 10, 4, 12)],
  ["7d", Date.UTC(2026, 9, 29, 12)],
])("%s is a moment", (text, moment) => expect(readMoment(text, now)).toBe(moment));

test.each([
  "",
  "yesterday",
  "5",
  "7w",
  "2026-13-01",
  "2026-02-30",
  "2026-11-05T25:00",
  "2026-11-05 08:30",
  "05.11.2026",
])("%o is none, and the message says what is", (text) =>
  expect(() => readMoment(text, now)).toThrow("as in 2026-11-05"),
);
