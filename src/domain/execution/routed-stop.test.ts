import { expect, test } from "vitest";
import { routedStopOf } from "./routed-stop.ts";
import { placeOf, visitsOf } from "./stop-visits.ts";
import type { Stop } from "../stop/stop.ts";

const address = { name: "Depot", addr1: "1 Main Street", zip: "30301", latitude: 33.7, longitude: -84.3 };
const schedule = { timeFrom: "2026-11-05T08:00:00", timeZone: "America/New_York", estimatedDuration: "15" };
const stop: Stop = {
  stopNbr: "S1",
  stopType: "DO",
  puConfirmation: "SKIP",
  stopGeofenceRadius: 80,
  from: { address, contact: { email: "jo@example.com" } },
  to: { address, schedule, signatureRequired: true },
  comments: [{ commentType: "DRV", commentDescription: "Ring twice" }],
  stopDetails: [{ stopDetailSeq: 1, product: "P1" }],
};

test("what route events need of a stop is its visits: where they are, how long they take, and in which zone", () => {
  const { name: _, ...place } = address;
  expect(routedStopOf(stop)).toEqual({
    ...{ stopType: "DO", puConfirmation: "SKIP", stopGeofenceRadius: 80 },
    from: { address: place, schedule: {} },
    to: { address: place, schedule: { timeZone: "America/New_York", estimatedDuration: "15" } },
  });
});

test.each([
  ["without parties", {}],
  ["of the type PU with its address in `to`", { stopType: "PU", to: { address } }],
  ["with a pickup of its own", { from: { address: { city: "Macon" } }, to: { address } }],
])("a stop %s has the same visits and places by it", (_what, fields: Partial<Stop>) => {
  const whole: Stop = { stopNbr: "S1", ...fields };
  const routed = routedStopOf(whole);
  const visits = visitsOf(whole, { originZip: "10001" });
  expect(visitsOf(routed, { originZip: "10001" })).toBe(visits);
  for (const party of ["from", "to"] as const)
    expect(placeOf(routed, visits, party)).toEqual(placeOf(whole, visits, party));
});
