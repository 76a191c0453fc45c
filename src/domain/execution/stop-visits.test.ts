import { describe, expect, it } from "vitest";
import { mustReturnToDepot, partyOf, visitsOf } from "./stop-visits.ts";

const origin = { originAddr1: "1 Depot Road", originCity: "Springfield", originZip: 62703 };
const from = (address: object) => ({ from: { address } });

describe("visitsOf", () => {
  it.each<[string, object, object, string]>([
    ["stopType PU", { stopType: "PU" }, origin, "pickupOnly"],
    ["stopType 01, as in stop files", { stopType: "01" }, origin, "pickupOnly"],
    [
      "stopType pu that skips its confirmation",
      { stopType: "pu", puConfirmation: "SKIP" },
      origin,
      "pickupOnly",
    ],
    ["no from", {}, origin, "dropoffOnly"],
    ["a from without an address", { from: {} }, origin, "dropoffOnly"],
    ["an empty address", from({ addr1: "", latitude: "", longitude: null }), origin, "dropoffOnly"],
    ["an address that only has a name", from({ name: "Shop" }), origin, "dropoffOnly"],
    ["the origin", from({ addr1: " 1 depot  ROAD", zip: "62703" }), origin, "dropoffOnly"],
    [
      "the origin's street in another city",
      from({ addr1: "1 Depot Road", city: "Shelbyville" }),
      origin,
      "pickupAndDropoff",
    ],
    ["another address", from({ addr1: "5 First Street" }), origin, "pickupAndDropoff"],
    [
      "another address that is skipped",
      { puConfirmation: "SKIP", ...from({ addr1: "5 First Street" }) },
      origin,
      "dropoffOnly",
    ],
    [
      "another address of a DO stop",
      { stopType: "DO", ...from({ addr1: "5 First Street" }) },
      origin,
      "pickupAndDropoff",
    ],
    ["an address when the load has no origin", from({ addr1: "1 Depot Road" }), {}, "pickupAndDropoff"],
    [
      "the coordinates of the origin",
      from({ latitude: 39.78001, longitude: -89.65 }),
      { originLatitude: 39.78, originLongitude: -89.65 },
      "dropoffOnly",
    ],
    [
      "other coordinates",
      from({ latitude: 39.79, longitude: -89.65 }),
      { originLatitude: 39.78, originLongitude: -89.65 },
      "pickupAndDropoff",
    ],
  ])("%s", (_what, stop, header, visits) => expect(visitsOf(stop, header)).toBe(visits));
});

describe("partyOf", () => {
  it("a pickup only is at its from, or at its to when that is all it has", () => {
    const to = { address: { addr1: "B" } };
    const both = { from: { address: { addr1: "A" } }, to };
    expect(partyOf(both, "pickupOnly", "from")).toBe(both.from);
    expect(partyOf({ to }, "pickupOnly", "from")).toBe(to);
    expect(partyOf({ to }, "pickupAndDropoff", "from")).toBeUndefined();
  });
});

describe("mustReturnToDepot", () => {
  it.each([
    ["ALWAYS", true],
    ["yes", true],
    ["NEVER", false],
    ["No", false],
    ["", false],
    [undefined, false],
  ])("%s: %s", (returnToDepot, must) =>
    expect(mustReturnToDepot(returnToDepot === undefined ? {} : { returnToDepot })).toBe(must),
  );
});
