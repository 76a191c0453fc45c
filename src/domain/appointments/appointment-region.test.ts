import { describe, expect, it } from "vitest";
import { weekdays } from "../time/weekday.ts";
import { type AppointmentPlace, type AppointmentRegion, regionOf } from "./appointment-region.ts";

function region(name: string, change: Partial<AppointmentRegion>): AppointmentRegion {
  return {
    ...{ name, zone: "UTC", countries: [], zipPrefixes: [], partners: [], schedulingAttributes: [] },
    ...{ weekdays, windows: [] },
    ...change,
  };
}

const regions = [
  region("cold", { schedulingAttributes: ["COLD"], countries: ["US"] }),
  region("partner", { partners: ["P1", "P2"], zipPrefixes: ["627"] }),
  region("springfield", { countries: ["us"], zipPrefixes: ["627", "625"] }),
  region("london", { countries: ["GB"], zipPrefixes: ["SW1", "n 1"] }),
  region("states", { countries: ["US", "USA"] }),
  region("number", { countries: ["DE"], schedulingAttributes: ["7"] }),
];

describe("the region of a place", () => {
  it.each<[AppointmentPlace, string | undefined]>([
    [{ zip: "62704", country: "US" }, "springfield"],
    [{ zip: 62704, country: "us" }, "springfield"],
    [{ zip: " 627 04", country: " Us" }, "springfield"],
    [{ zip: "62704", country: "US", partnerCode: "P2" }, "partner"],
    [{ zip: "62704", country: "US", partnerCode: "p2" }, "springfield"],
    [{ zip: "62704", country: "US", partnerCode: "P1", schedulingAttribute: "COLD" }, "cold"],
    [{ zip: "10001", country: "USA" }, "states"],
    [{ country: "US" }, "states"],
    [{ zip: "sw1a 1aa", country: "gb" }, "london"],
    [{ zip: "N1 9GU", country: "GB" }, "london"],
    [{ zip: "SE1", country: "GB" }, undefined],
    [{ zip: "62704" }, undefined],
    [{ country: "DE", schedulingAttribute: 7 }, "number"],
    [{ country: "DE" }, undefined],
    [{}, undefined],
  ])("%j is %j", (place, name) => expect(regionOf(regions, place)?.name).toBe(name));

  it("is any for a region that asks for nothing", () => {
    expect(regionOf([region("all", {})], {})?.name).toBe("all");
  });
});
