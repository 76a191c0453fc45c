import { expect, test } from "vitest";
import { isTimeZone, normaliseDateOrDateTime, normaliseLocalDateTime, readInstant } from "./local-time.ts";

test.each([
  ["2026-11-05T08:00:00", "2026-11-05T08:00:00"],
  ["2020-4-5T8:0:0", "2020-04-05T08:00:00"],
  ["2026-11-05T08:00", "2026-11-05T08:00:00"],
  ["2020-4-5T8:0:0Z", undefined],
  ["2024-02-29T23:59:59.5", "2024-02-29T23:59:59"],
  ["2023-02-29T00:00:00", undefined],
  ["1900-02-29T00:00:00", undefined],
  ["2026-13-01T00:00:00", undefined],
  ["2026-04-31T00:00:00", undefined],
  ["2026-01-01T24:00:00", undefined],
  ["2026-01-01T00:60:00", undefined],
  ["2026-01-01T00:00:00+01:00", undefined],
  ["2026-01-01 00:00:00", undefined],
  ["2026-01-01", undefined],
  ["", undefined],
])("the local date-time %j becomes %j", (text, expected) => {
  expect(normaliseLocalDateTime(text)).toBe(expected);
});

test.each([
  ["2026-4-5", "2026-04-05"],
  ["2026-4-5T8:0:0.000Z", "2026-04-05T08:00:00.000Z"],
  ["2026-4-5T8:0:0+0130", "2026-04-05T08:00:00+0130"],
  ["2026-02-30", undefined],
])("the date %j becomes %j", (text, expected) => {
  expect(normaliseDateOrDateTime(text)).toBe(expected);
});

test.each([
  ["2026-11-05T08:00:00Z", "2026-11-05T08:00:00.000Z"],
  ["2026-11-05T08:00:00.9999999Z", "2026-11-05T08:00:00.000Z"],
  ["2026-11-05T08:00:00+01:00", "2026-11-05T07:00:00.000Z"],
  ["2026-11-05T08:00:00.000-0630", "2026-11-05T14:30:00.000Z"],
  ["2026-12-31T23:00-05", "2027-01-01T04:00:00.000Z"],
  ["2026-11-05T08:00:00", undefined],
  ["2026-11-05T08:00:00+24:00", undefined],
  ["2026-11-05T08:00:00+01:60", undefined],
  ["2026-02-30T08:00:00Z", undefined],
  ["2026-11-05Z", undefined],
])("the instant %j is %j", (text, expected) => {
  const at = readInstant(text);
  expect(at === undefined ? undefined : new Date(at).toISOString()).toBe(expected);
});

test.each(["America/New_York", "Europe/Berlin", "UTC", "EST", "CEST", "AKDT", "Etc/GMT+5"])(
  "%s is a time zone",
  (zone) => {
    expect(isTimeZone(zone)).toBe(true);
  },
);

test.each(["", "+01:00", "Mars/Olympus", "XYZ", "../etc", "a".repeat(5_000)])(
  "%j is no time zone",
  (zone) => {
    expect(isTimeZone(zone)).toBe(false);
  },
);
