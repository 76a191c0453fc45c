/** Users of whom the company has said `unableToUseApp`: they report nothing, and nobody picks them. */
import { beforeEach, describe, expect, test } from "vitest";
import { importUsers } from "../../src/operations/imports/import-users.ts";
import { assignLoadCarrier } from "../../src/operations/loads/assign-load.ts";
import { codeOf } from "../support/gateway-store.ts";
import { dropoff, RouteDriver } from "../support/route-driver.ts";

let route: RouteDriver;

async function importDriver(userName: string, unableToUseApp: boolean): Promise<void> {
  const { call, at } = route.site;
  const user = { userName, firstName: "Cy", lastName: "Moor", unableToUseApp, assignedGroups: "C1" };
  const body = { companyCode: "ACME", users: [{ ...user, userRoles: [{ role: "DI_Driver" }] }] };
  await call(importUsers, { ...at, body, callerRoles: ["MemberAdmin"] }, AbortSignal.timeout(60_000));
}

beforeEach(async () => {
  route = await RouteDriver.open();
  await route.site.addPartner("C1");
  await importDriver("cy", true);
});

describe("a driver who is unable to use the app", () => {
  test("reports no event, also of a load of his own (932), and may again once he is able", async () => {
    await route.load([dropoff], { driver: "cy" });
    expect(await codeOf(route.report("route.initiated", { as: "cy" }))).toBe("roleMissing");
    expect(await route.loadStatus()).toBe(30);
    await importDriver("cy", false);
    await route.report("route.initiated", { as: "cy" });
    expect(await route.loadStatus()).toBe(40);
  });

  test("reports no position (932), nor a document before the load is looked at", async () => {
    await route.load([dropoff], { driver: "cy" });
    await route.report("route.initiated", { as: "host" });
    expect(await codeOf(route.position(1, { as: "cy" }))).toBe("roleMissing");
    const data = { documents: [{ documentName: "a", documentData: "YQ==" }] };
    const report = { as: "cy", stopNbr: "D1", data };
    expect(await codeOf(route.report("stop.dropoff.arrival", report))).toBe("roleMissing");
  });

  test("may be assigned by name, and the host reports for him", async () => {
    await route.load([dropoff], { driver: "cy" });
    await route.report("route.initiated", { as: "host" });
    await route.report("stop.dropoff.confirmation", { as: "host", stopNbr: "D1" });
    expect(await route.loadStatus()).toBe(90);
  });

  test("does not become the driver of a load that he initiates as the host", async () => {
    await route.load([dropoff], { driver: null });
    const roles = ["DI_Driver", "DI_Integration"] as const;
    expect(await codeOf(route.report("route.initiated", { as: "cy", roles }))).toBe("driverRequired");
  });

  test("is never picked as available", async () => {
    await route.load([dropoff], { driver: null });
    const body = { carrierCode: "C1", assignmentCriteria: "01" };
    const ask = () => route.site.call(assignLoadCarrier, { ...route.site.at, loadNbr: "L1", body });
    const assign = () => codeOf(ask());
    expect(await assign()).toBe("driverNotFound");
    await expect(ask()).rejects.toThrow("cannot use the app");
    await importDriver("cy", false);
    expect(await assign()).toBe("done");
  });
});
