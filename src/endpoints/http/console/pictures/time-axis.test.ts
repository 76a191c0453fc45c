import { describe, expect, it } from "vitest";
import { dayMs, hourMs, minuteMs } from "../../../../lib/durations.ts";
import { knownZone, timeAxis } from "./time-axis.ts";

const noon = Date.UTC(2026, 10, 5, 12);

describe("the axis of a picture over time", () => {
  it("places moments by how far they are apart", () => {
    const axis = timeAxis([noon, noon + 2 * hourMs, noon + 4 * hourMs]);
    const [first, middle, last] = [noon, noon + 2 * hourMs, noon + 4 * hourMs].map((at) => axis.at(at));
    expect([first, last]).toEqual([3, 97]);
    expect(middle).toBeCloseTo(50, 5);
    expect(axis.cuts).toEqual([]);
  });

  it("has its ticks at full steps of the zone's clock, each with its day", () => {
    const axis = timeAxis([noon + 7 * minuteMs, noon + 4 * hourMs], { zone: "Asia/Kolkata" });
    expect(axis.ticks.every(({ day }) => day === "2026-11-05")).toBe(true);
    expect(axis.ticks.map(({ time }) => time)).toEqual(["18:00", "19:00", "20:00", "21:00"]);
  });

  it("cuts out a long spell in which nothing happened, and keeps both sides apart", () => {
    const later = noon + 30 * dayMs;
    const axis = timeAxis([noon, noon + hourMs, ...[0, 8, 16, 24].map((hours) => later + hours * hourMs)]);
    expect(axis.cuts).toHaveLength(1);
    expect(axis.cuts[0]?.lengthMs).toBe(30 * dayMs - hourMs);
    expect(axis.at(noon + hourMs) - axis.at(noon)).toBeGreaterThanOrEqual(8);
    expect(axis.at(later)).toBeGreaterThan(axis.cuts[0]?.x ?? 100);
    expect(axis.at(noon + hourMs)).toBeLessThan(axis.cuts[0]?.x ?? 0);
  });

  it("cuts nothing between two moments, nor between evenly spread ones", () => {
    expect(timeAxis([noon, noon + 400 * dayMs]).cuts).toEqual([]);
    expect(timeAxis([0, 1, 2, 3].map((days) => noon + days * dayMs)).cuts).toEqual([]);
  });

  it("cuts at most five spells, so that something is left of the axis", () => {
    const moments = Array.from({ length: 12 }, (_, place) => noon + 10 ** place * minuteMs);
    const axis = timeAxis(moments);
    expect(axis.cuts.length).toBeLessThanOrEqual(5);
    const places = moments.map((moment) => axis.at(moment));
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(Math.max(...places)).toBeLessThanOrEqual(97.001);
  });

  it("shows a single moment in the middle", () => {
    const axis = timeAxis([noon]);
    expect(axis.at(noon)).toBe(50);
    expect(axis.ticks).toEqual([{ x: 50, time: "12:00:00.000", day: "2026-11-05" }]);
  });

  it("shows milliseconds where the whole lasts no longer", () => {
    const axis = timeAxis([noon, noon + 40]);
    expect(axis.ticks[0]?.time).toBe("12:00:00.000");
    expect(axis.ticks.at(-1)?.time).toMatch(/^12:00:00\.0[1-4]0$/);
  });

  it("takes what lies outside to its nearer end, and any order of moments", () => {
    const axis = timeAxis([noon + hourMs, noon]);
    expect(axis.at(noon - dayMs)).toBe(3);
    expect(axis.at(noon + dayMs)).toBe(97);
  });

  it("goes over years without thousands of ticks", () => {
    const axis = timeAxis([0, noon, Date.UTC(2200, 0, 1)]);
    expect(axis.ticks.length).toBeLessThan(15);
  });

  it("goes on in UTC where a stop names a zone that nobody knows", () => {
    expect(knownZone("Mars/Olympus")).toBe("UTC");
    expect(knownZone(undefined)).toBe("UTC");
    expect(knownZone("CET")).toBe("CET");
    expect(timeAxis([noon], { zone: "<b>" }).zone).toBe("UTC");
  });
});
