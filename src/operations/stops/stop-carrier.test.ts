import { beforeEach, describe, expect, test } from "vitest";
import { StopSite } from "../../../test/support/stop-site.ts";
import { asksForAvailableDriver } from "./carrier-assignment.ts";
import { assignStopCarrier, unassignStopCarrier } from "./stop-carrier.ts";

let site: StopSite;

beforeEach(async () => {
  site = await StopSite.open();
  await site.addPartner("C1");
  await site.keep("S1");
});

const inputOf = (stopNbr: string, body: object) => ({
  ...{ companyId: site.companyId, companyCode: "ACME", stopNbr, body },
});
const assign = (body: object, stopNbr = "S1") => assignStopCarrier(site, inputOf(stopNbr, body));
const unassign = (body: object, stopNbr = "S1") => unassignStopCarrier(site, inputOf(stopNbr, body));
const carrier = async () => {
  const { carrier_code, assignment_criteria, updated_at } = await site.row("S1");
  return [carrier_code, assignment_criteria, updated_at];
};

describe("the carrier of a stop", () => {
  test("is the one of the last assignment, with its criteria as text", async () => {
    await assign({ carrierCode: "C1", assignmentCriteria: 1 });
    expect(await carrier()).toEqual(["C1", "1", site.now]);
    await assign({ carrierCode: "C1" });
    expect(await carrier()).toEqual(["C1", null, site.now]);
  });

  test("is taken away with its criteria, by who names it", async () => {
    await assign({ carrierCode: "C1", assignmentCriteria: "02" });
    site.now += 1_000;
    await expect(unassign({ carrierCode: "C2" })).rejects.toMatchObject({
      code: "notAssigned",
      message: "the stop S1 is assigned to another carrier, C1. Nothing was unassigned.",
    });
    await unassign({ carrierCode: "C1" });
    expect(await carrier()).toEqual([null, null, site.now]);
    await expect(unassign({ carrierCode: "C1" })).rejects.toMatchObject({
      message: "the stop S1 has no carrier. Nothing was unassigned.",
    });
  });

  test("is a partner of the company, and nothing is written of another", async () => {
    await expect(assign({ carrierCode: "C9" })).rejects.toMatchObject({
      code: "partnerNotFound",
      message: "carrierCode C9: there is no such business partner. Import it first, or correct the code.",
    });
    expect(await carrier()).toEqual([null, null, 1]);
  });

  test("stays when the stop is under way or done", async () => {
    await site.keep("S2", { status: "38" });
    await expect(assign({ carrierCode: "C1" }, "S2")).rejects.toMatchObject({
      code: "stopInTransit",
      message: "the stop S2 is 38 (on the way to drop-off): its carrier cannot be changed any more.",
    });
    await site.keep("S3", { status: "90", carrierCode: "C1" });
    await expect(unassign({ carrierCode: "C1" }, "S3")).rejects.toMatchObject({ code: "finalState" });
    await expect(unassign({ carrierCode: "C1" }, "S9")).rejects.toMatchObject({ code: "stopNotFound" });
    expect((await site.row("S3")).carrier_code).toBe("C1");
  });
});

test("criteria 01 ask for the available driver, also as the number 1", () => {
  expect(["01", "1", "02", "", null].map(asksForAvailableDriver)).toEqual([true, true, false, false, false]);
});
