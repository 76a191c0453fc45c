import { describe, expect, it } from "vitest";
import { localTimeOf, minutesBetween, momentOf } from "./zoned-time.ts";

const utc = (text: string) => Date.parse(`${text}Z`);

describe("momentOf and localTimeOf", () => {
  it.each([
    ["UTC", "2026-07-01T12:00:00", "2026-07-01T12:00:00"],
    ["America/Chicago", "2026-01-15T12:00:00", "2026-01-15T18:00:00"],
    ["America/Chicago", "2026-07-15T12:00:00", "2026-07-15T17:00:00"],
    ["Asia/Kathmandu", "2026-07-15T00:15:00", "2026-07-14T18:30:00"],
    ["Australia/Lord_Howe", "2026-01-15T12:00:00", "2026-01-15T01:00:00"],
    // By the sun, before there were zones.
    ["Europe/Berlin", "0050-06-01T12:00:00", "0050-06-01T11:06:32"],
    // An abbreviation means its offset in winter and in summer.
    ["CET", "2026-07-15T12:00:00", "2026-07-15T11:00:00"],
    ["EST", "2026-07-15T12:00:00", "2026-07-15T17:00:00"],
    ["CEST", "2026-01-15T12:00:00", "2026-01-15T10:00:00"],
    ["AKDT", "2026-07-15T12:00:00", "2026-07-15T20:00:00"],
    ["BST", "2026-07-15T12:00:00", "2026-07-15T11:00:00"],
  ])("%s: %s is %s in UTC, and back", (zone, local, moment) => {
    expect(momentOf(local, zone)).toBe(utc(moment));
    expect(localTimeOf(utc(moment), zone)).toBe(local);
  });

  it("goes hour by hour through a day with 23 hours", () => {
    const start = momentOf("2026-03-29T00:00:00", "Europe/Berlin");
    const hours = [0, 1, 2, 3].map((hour) =>
      localTimeOf(start + hour * 3_600_000, "Europe/Berlin").slice(11, 13),
    );
    expect(hours).toEqual(["00", "01", "03", "04"]);
    const end = momentOf("2026-03-30T00:00:00", "Europe/Berlin");
    expect((end - start) / 3_600_000).toBe(23);
  });

  it("goes hour by hour through a day with 25 hours", () => {
    const start = momentOf("2026-10-25T00:00:00", "Europe/Berlin");
    const hours = [0, 1, 2, 3, 4].map((hour) =>
      localTimeOf(start + hour * 3_600_000, "Europe/Berlin").slice(11, 13),
    );
    expect(hours).toEqual(["00", "01", "02", "02", "03"]);
    const end = momentOf("2026-10-26T00:00:00", "Europe/Berlin");
    expect((end - start) / 3_600_000).toBe(25);
  });

  it("takes a time that the day skips as much later as the clocks went forward", () => {
    const moment = momentOf("2026-03-29T02:30:00", "Europe/Berlin");
    expect(localTimeOf(moment, "Europe/Berlin")).toBe("2026-03-29T03:30:00");
    expect(localTimeOf(momentOf("2026-10-04T02:15:00", "Australia/Lord_Howe"), "Australia/Lord_Howe")).toBe(
      "2026-10-04T02:45:00",
    );
  });

  it("takes a time that the day has twice as the first", () => {
    expect(momentOf("2026-10-25T02:30:00", "Europe/Berlin")).toBe(utc("2026-10-25T00:30:00"));
    expect(momentOf("2026-11-01T01:30:00", "America/New_York")).toBe(utc("2026-11-01T05:30:00"));
  });

  it.each([
    ["15:00:00", "01:30:00"],
    ["15:29:59", "01:59:59"],
    ["15:30:00", "02:30:00"],
    ["15:59:59", "02:59:59"],
    ["16:00:00", "03:00:00"],
  ])("minds a change in the middle of an hour of UTC: at %s it is %s", (time, local) => {
    const shown = localTimeOf(utc(`2026-10-03T${time}`), "Australia/Lord_Howe");
    expect(shown).toBe(`2026-10-04T${local}`);
  });

  it("is right before, at and after each change of a year", () => {
    for (const zone of ["America/New_York", "Europe/London", "Australia/Sydney", "America/St_Johns"]) {
      for (let at = utc("2026-01-01T00:00:00"); at < utc("2027-01-01T00:00:00"); at += 1_800_000) {
        const local = localTimeOf(at, zone);
        const back = momentOf(local, zone);
        // The second turn of a repeated hour comes back as the first.
        if (back !== at)
          expect([zone, local, localTimeOf(back, zone), at - back]).toEqual([zone, local, local, 3_600_000]);
      }
    }
  });
});

describe("minutesBetween", () => {
  it.each([
    [0, 600_000, 10],
    [0, 89_999, 1],
    [0, 90_000, 2],
    [600_000, 0, 0],
  ])("from %i to %i ms: %i", (from, to, minutes) => expect(minutesBetween(from, to)).toBe(minutes));
});
