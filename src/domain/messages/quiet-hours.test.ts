import { describe, expect, test } from "vitest";
import { endOfQuietHours } from "./quiet-hours.ts";

const zone = "Europe/Berlin";
const night = { from: "21:00", to: "07:00" };

function endOf(at: string, hours = night, inZone = zone): string | undefined {
  const end = endOfQuietHours(Date.parse(at), hours, inZone);
  return end === undefined ? undefined : new Date(end).toISOString();
}

describe("quiet hours", () => {
  test.each([
    ["2026-11-05T19:59:59Z", undefined],
    ["2026-11-05T20:00:00Z", "2026-11-06T06:00:00.000Z"],
    ["2026-11-05T23:30:00Z", "2026-11-06T06:00:00.000Z"],
    ["2026-11-06T05:59:59Z", "2026-11-06T06:00:00.000Z"],
    ["2026-11-06T06:00:00Z", undefined],
    ["2026-12-31T22:30:00Z", "2027-01-01T06:00:00.000Z"],
  ])("over midnight, at %s, end %s", (at, end) => expect(endOf(at)).toBe(end));

  test.each([
    ["2026-11-05T11:59:00Z", "2026-11-05T13:00:00.000Z"],
    ["2026-11-05T13:00:00Z", undefined],
    ["2026-11-05T10:59:00Z", undefined],
  ])("within a day, at %s, end %s", (at, end) => expect(endOf(at, { from: "12:00", to: "14:00" })).toBe(end));

  test("are those of the zone, also of an abbreviation", () => {
    expect(endOf("2026-11-05T20:00:00Z", night, "America/New_York")).toBeUndefined();
    expect(endOf("2026-11-06T03:00:00Z", night, "EST")).toBe("2026-11-06T12:00:00.000Z");
    expect(endOf("2026-11-05T16:00:00Z", night, "Asia/Kathmandu")).toBe("2026-11-06T01:15:00.000Z");
  });

  test.each([
    // The night has 9 hours, and then 11.
    ["2026-03-28T20:30:00Z", "2026-03-29T05:00:00.000Z"],
    ["2026-10-24T20:30:00Z", "2026-10-25T06:00:00.000Z"],
  ])("on the day on which the clocks change, at %s, end %s by the clocks", (at, end) =>
    expect(endOf(at)).toBe(end),
  );

  test("an end that the day skips is as much later", () => {
    expect(endOf("2026-03-29T00:30:00Z", { from: "21:00", to: "02:30" })).toBe("2026-03-29T01:30:00.000Z");
  });

  test("an hour that the clocks go through twice is quiet twice, and its end is reached", () => {
    const hours = { from: "21:00", to: "02:30" };
    expect(endOf("2026-10-25T00:10:00Z", hours)).toBe("2026-10-25T00:30:00.000Z");
    expect(endOf("2026-10-25T00:30:00Z", hours)).toBeUndefined();
    expect(endOf("2026-10-25T01:10:00Z", hours)).toBe("2026-10-25T01:30:00.000Z");
  });

  test("the end is never quiet itself, nor before the moment, at any minute of a year", () => {
    const step = 17 * 60_000;
    for (let at = Date.UTC(2026, 0, 1); at < Date.UTC(2027, 0, 1); at += step) {
      const end = endOfQuietHours(at, night, zone);
      if (end === undefined) continue;
      expect(end).toBeGreaterThan(at);
      expect(end - at).toBeLessThanOrEqual(11 * 3_600_000);
      expect(endOfQuietHours(end, night, zone)).toBeUndefined();
    }
  });
});
