import { describe, expect, it } from "vitest";
import { distanceMetres } from "./geo-point.ts";
import { arrivalsOf, msPerMetre, plannedSpeedKmh, type RemainingVisit } from "./route-eta.ts";

const point = (latitude: number, longitude = 0) => ({ latitude, longitude });

describe("distanceMetres", () => {
  it.each([
    [point(0), point(0), 0],
    [point(0), point(1), 111_195],
    [point(0), point(0, 180), 20_015_114],
    [point(89.9, 0), point(89.9, 180), 22_239],
    [point(0, 179.5), point(0, -179.5), 111_195],
    // From Paris to London.
    [point(48.8566, 2.3522), point(51.5074, -0.1278), 343_557],
  ])("%j to %j is %i m", (from, to, metres) => expect(Math.round(distanceMetres(from, to))).toBe(metres));
});

describe("plannedSpeedKmh", () => {
  it.each([
    [120, 90, 80],
    [undefined, 90, 45],
    [120, undefined, 45],
    [0, 0, 45],
    [-5, 10, 45],
    [100_000, 60, 45],
    [1, 600, 45],
  ])("%s km in %s minutes is %i km/h", (prePlannedLoadDistance, prePlannedLoadDuration, speed) => {
    const plan = {
      ...(prePlannedLoadDistance === undefined ? {} : { prePlannedLoadDistance }),
      ...(prePlannedLoadDuration === undefined ? {} : { prePlannedLoadDuration }),
    };
    expect(plannedSpeedKmh(plan, 45)).toBe(speed);
  });
});

describe("msPerMetre", () => {
  it("is 1.3 times the time of the great circle, times the congestion", () => {
    // At 36 km/h a metre takes 100 ms.
    expect(msPerMetre({}, 36)).toBeCloseTo(130);
    expect(msPerMetre({ congestionFactor: 2 }, 36)).toBeCloseTo(260);
    expect(msPerMetre({ congestionFactor: 0 }, 36)).toBeCloseTo(130);
  });
});

describe("arrivalsOf", () => {
  interface NamedVisit extends RemainingVisit {
    readonly name: string;
  }
  const visit = (name: string, rest: Partial<RemainingVisit>): NamedVisit => ({
    name,
    place: undefined,
    durationMinutes: 0,
    arrivedAt: undefined,
    ...rest,
  });
  const named = (arrivals: ReadonlyMap<NamedVisit, number>) =>
    [...arrivals].map(([one, at]) => [one.name, at]);
  const degree = distanceMetres(point(0), point(1));

  it("adds ways and durations in order; what has no coordinates only takes its time", () => {
    const visits = [
      visit("A from", { place: point(1), durationMinutes: 10 }),
      visit("A to", { place: point(2) }),
      visit("B", { durationMinutes: 5 }),
      visit("C", { place: point(1) }),
    ];
    const arrivals = arrivalsOf({ at: 1_000, place: point(0) }, visits, 1);
    expect(named(arrivals)).toEqual([
      ["A from", Math.round(1_000 + degree)],
      ["A to", Math.round(1_000 + 2 * degree + 600_000)],
      ["C", Math.round(1_000 + 3 * degree + 900_000)],
    ]);
  });

  it.each([
    [0, 600_000],
    [240_000, 600_000],
    [600_000, 600_000],
    [900_000, 900_000],
  ])(
    "has no way to a stop at which the driver is: who arrived at 0 for ten minutes and is there at %i ms leaves at %i ms",
    (now, leaves) => {
      const visits = [
        visit("A", { place: point(1), durationMinutes: 10, arrivedAt: 0 }),
        visit("B", { place: point(2) }),
      ];
      expect(named(arrivalsOf({ at: now, place: point(0.9) }, visits, 1))).toEqual([
        ["B", Math.round(leaves + degree)],
      ]);
    },
  );

  it.each([
    ["a stay", 1e14, 1],
    ["a way", 0, 1e300],
  ])("tells nothing of what comes after %s that lasts longer than a year", (_what, durationMinutes, pace) => {
    const visits = [visit("A", { place: point(0), durationMinutes }), visit("B", { place: point(1) })];
    expect(named(arrivalsOf({ at: 1_000, place: point(0) }, visits, pace))).toEqual([["A", 1_000]]);
  });
});
