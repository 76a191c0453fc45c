/** Loads: the rows of the state table (specification/stop-states.md#imports-of-a-load), one test each. */
import { beforeEach, describe, expect, test } from "vitest";
import {
  assignLoadCarrier,
  assignLoadDriver,
  unassignLoadCarrier,
  unassignLoadDriver,
} from "../../src/operations/loads/assign-load.ts";
import { cancelLoad } from "../../src/operations/loads/cancel-load.ts";
import { codeOf, GatewayStore, load, stop } from "../support/gateway-store.ts";

let site: GatewayStore;

beforeEach(async () => {
  site = await GatewayStore.open();
  await site.addPartner("C1", "C2");
  await site.addDriver({
    userName: "ann",
    email: "ann@example.com",
    cdlNumber: "CDL7",
    fullName: "Ann Hill",
    carriers: ["C1"],
  });
  await site.addDriver({ userName: "bob", fullName: "Bob Vale" });
});

const statusOf = async (loadNbr: string) => (await site.load(loadNbr)).loadExecutionInfo.loadStatus;
const assignmentOf = async (loadNbr: string) => (await site.load(loadNbr)).loadAssignment;
const assignDriver = (loadNbr: string, body: object) =>
  site.call(assignLoadDriver, { ...site.at, loadNbr, body });
const unassignDriver = (loadNbr: string, body: object = {}) =>
  site.call(unassignLoadDriver, { ...site.at, loadNbr, body });
const assignCarrier = (loadNbr: string, carrierCode: string, rest: object = {}) =>
  site.call(assignLoadCarrier, { ...site.at, loadNbr, body: { carrierCode, ...rest } });
const unassignCarrier = (loadNbr: string, carrierCode: string) =>
  site.call(unassignLoadCarrier, { ...site.at, loadNbr, body: { carrierCode } });
const cancel = (loadNbr: string, rest: object = { reasonCode: "R1" }) =>
  site.call(cancelLoad, { ...site.at, body: { loadNbr, ...rest } });

describe("load import", () => {
  test("a new load is 10, its stops 20 in their order; 7000, and 7028 for each stop", async () => {
    expect(await site.importLoads(load("L1", ["S2", "S1"]))).toEqual(["Success"]);
    expect(await site.events()).toEqual([7000, 7028, 7028]);
    const { loadExecutionInfo, stops } = await site.load("L1");
    expect(loadExecutionInfo).toMatchObject({ loadStatus: 10, actualStartDTTM: null });
    expect(stops.map((one: { stop: { stopNbr: string } }) => one.stop.stopNbr)).toEqual(["S2", "S1"]);
    expect(stops[0].stopExecutionInfo.stopStatus).toBe("20");
    expect((await site.stop("S1")).load).toEqual({ loadNbr: "L1", driverName: null, vehicleNbr: null });
  });

  test.each([
    ["a carrier", { carrierCode: "C1" }, 20, [7000]],
    ["a driver by user name", { driverUserName: "ann" }, 30, [7000, 7001]],
    ["a driver by e-mail", { carrierCode: "C1", driverEmail: "ann@example.com" }, 30, [7000, 7001]],
    ["a driver by e-mail in another case", { driverEmail: " Ann@EXAMPLE.com" }, 30, [7000, 7001]],
    ["a driver by licence", { driverCdl: "CDL7" }, 30, [7000, 7001]],
    ["a driver by name", { driverName: "Ann  Hill" }, 30, [7000, 7001]],
    ["the carrier's available driver", { carrierCode: "C1", assignmentCriteria: "01" }, 30, [7000, 7001]],
    ["nobody", { carrierCode: "" }, 10, [7000]],
  ])("a new load assigned to %s", async (_what, loadAssignment, status, events) => {
    expect(await site.importLoads(load("L1", [], { loadAssignment }))).toEqual(["Success"]);
    expect(await statusOf("L1")).toBe(status);
    expect(await site.events()).toEqual(events);
    if (status === 30) expect((await assignmentOf("L1")).driverUserName).toBe("ann");
  });

  test.each([
    ["an unknown carrier", { carrierCode: "C9" }, 925],
    ["an unknown driver", { driverUserName: "eve" }, 926],
    ["a carrier without an available driver", { carrierCode: "C2", assignmentCriteria: "01" }, 926],
  ])("a load assigned to %s is refused whole", async (_what, loadAssignment, code) => {
    expect(await site.importLoads(load("L1", ["S1"], { loadAssignment }), load("L2"))).toEqual([
      [code],
      "Success",
    ]);
    expect(await codeOf(site.load("L1"))).toBe("loadNotFound");
    expect(await codeOf(site.stop("S1"))).toBe("stopNotFound");
    expect(await site.events()).toEqual([7000]);
  });

  test("a load that exists is replaced: stops no longer listed go to 10; 7024, and 7028 for added stops", async () => {
    await site.importLoads(load("L1", ["S1", "S2"], { loadAssignment: { carrierCode: "C1" } }));
    await site.events();
    await site.importLoads({
      loadHeader: { loadNbr: "L1", reference: "new" },
      stops: [{ stopNbr: "S3" }, { stopNbr: "S2" }],
    });
    expect(await site.events()).toEqual([7024, 7028]);
    const { loadHeader, stops } = await site.load("L1");
    expect(loadHeader).toEqual({ loadNbr: "L1", reference: "new" });
    expect(stops.map((one: { stop: { stopNbr: string } }) => one.stop.stopNbr)).toEqual(["S3", "S2"]);
    expect(await site.stopStatus("S1")).toBe("10");
    // Without loadAssignment the one that is there stays.
    expect(await assignmentOf("L1")).toMatchObject({ carrierCode: "C1" });
    expect(await statusOf("L1")).toBe(20);
  });

  test.each([
    [40, 906],
    [70, 906],
    [90, 907],
    [99, 907],
  ] as const)("a load in %i is refused with %i", async (status, code) => {
    await site.importLoads(load("L1", ["S1"]));
    await site.forceLoad("L1", status);
    expect(await site.importLoads(load("L1", ["S2"]))).toEqual([[code]]);
    expect(await codeOf(site.stop("S2"))).toBe("stopNotFound");
  });

  test.each(["00", "05", "10", "20", "80", "99"] as const)(
    "a listed stop in %s becomes 20",
    async (status) => {
      await site.importStops(stop("S1"));
      await site.forceStop("S1", status);
      await site.events();
      expect(await site.importLoads(load("L1", ["S1"]))).toEqual(["Success"]);
      expect(await site.stopStatus("S1")).toBe("20");
      expect(await site.events()).toEqual(status === "80" ? [7000, 7044, 7028] : [7000, 7028]);
    },
  );

  test.each([
    ["24", 906],
    ["30", 906],
    ["50", 906],
    ["90", 907],
    ["91", 907],
  ] as const)("a listed stop in %s refuses the load with %i", async (status, code) => {
    await site.importStops(stop("S1"));
    await site.forceStop("S1", status);
    expect(await site.importLoads(load("L1", ["S2", "S1"]))).toEqual([[code]]);
    expect(await codeOf(site.load("L1"))).toBe("loadNotFound");
    expect(await codeOf(site.stop("S2"))).toBe("stopNotFound");
  });

  test("a stop on another load moves here, with 7028, unless that load is under way", async () => {
    await site.importLoads(load("L1", ["S1", "S2"]), load("L3", ["S3"]));
    await site.events();
    expect(await site.importLoads(load("L2", ["S2"]))).toEqual(["Success"]);
    expect(await site.events()).toEqual([7000, 7028]);
    expect((await site.load("L1")).stops).toHaveLength(1);
    await site.forceLoad("L3", 40);
    expect(await site.importLoads(load("L2", ["S2", "S3"]))).toEqual([[906]]);
    expect((await site.load("L3")).stops).toHaveLength(1);
    expect((await site.load("L2")).stops).toHaveLength(1);
  });

  test("the same number twice in one import is applied in its order", async () => {
    expect(await site.importLoads(load("L1", ["S1"]), load("L1", ["S2"]))).toEqual(["Success", "Success"]);
    expect(await site.stopStatus("S1")).toBe("10");
    expect(await site.stopStatus("S2")).toBe("20");
  });

  test("a stop that is listed twice in one load is refused at once", async () => {
    const loads = [load("L1", ["S1", "S1"])];
    await expect(site.askForLoads(...loads)).rejects.toMatchObject({
      faults: [{ code: "wrongType", path: "loads[0].stops[1].stopNbr" }],
    });
  });

  test("a stop keeps its load through a stop import, and leaves it with Function 02", async () => {
    await site.importLoads(load("L1", ["S1"]));
    await site.importStops(stop("S1", { sealNbr: "7" }));
    expect((await site.load("L1")).stops[0].stop).toMatchObject({ sealNbr: "7" });
    await site.forceStop("S1", "80");
    await site.importStops(stop("S1"));
    expect(await site.stopStatus("S1")).toBe("10");
    expect((await site.load("L1")).stops).toEqual([]);
  });
});

describe("assign and unassign carrier", () => {
  beforeEach(async () => {
    await site.importLoads(load("L1"));
    await site.events();
  });

  test("10 becomes 20 and again 10, without an event", async () => {
    await assignCarrier("L1", "C1", { assignmentCriteria: "05" });
    expect(await statusOf("L1")).toBe(20);
    expect(await assignmentOf("L1")).toMatchObject({ carrierCode: "C1", assignmentCriteria: "05" });
    await unassignCarrier("L1", "C1");
    expect(await statusOf("L1")).toBe(10);
    expect(await assignmentOf("L1")).toMatchObject({ carrierCode: null, assignmentCriteria: null });
    expect(await site.events()).toEqual([]);
  });

  test("a load with a driver stays 30", async () => {
    await assignDriver("L1", { driverUserName: "bob" });
    await assignCarrier("L1", "C1");
    expect(await statusOf("L1")).toBe(30);
    await unassignCarrier("L1", "C1");
    expect(await statusOf("L1")).toBe(30);
  });

  test("assignmentCriteria 01 gives it to the carrier's available driver; 7001", async () => {
    await assignCarrier("L1", "C1", { assignmentCriteria: "01" });
    expect(await assignmentOf("L1")).toMatchObject({ driverUserName: "ann", driverCdl: "CDL7" });
    expect(await statusOf("L1")).toBe(30);
    expect(await site.events()).toEqual([7001]);
  });

  test("refusals: unknown load, unknown carrier, nobody available, another carrier, a load under way", async () => {
    expect(await codeOf(assignCarrier("L9", "C1"))).toBe("loadNotFound");
    expect(await codeOf(assignCarrier("L1", "C9"))).toBe("partnerNotFound");
    expect(await codeOf(assignCarrier("L1", "C2", { assignmentCriteria: "01" }))).toBe("driverNotFound");
    expect(await statusOf("L1")).toBe(10);
    expect(await codeOf(unassignCarrier("L1", "C1"))).toBe("notAssigned");
    await assignCarrier("L1", "C1");
    expect(await codeOf(unassignCarrier("L1", "C2"))).toBe("notAssigned");
    await site.forceLoad("L1", 40);
    expect(await codeOf(assignCarrier("L1", "C2"))).toBe("stopInTransit");
    await site.forceLoad("L1", 90);
    expect(await codeOf(unassignCarrier("L1", "C1"))).toBe("finalState");
  });
});

describe("assign and unassign driver", () => {
  beforeEach(async () => {
    await site.importLoads(load("L1"), load("L2"), load("L3"));
    await site.events();
  });

  test("30 with 7001, then 10 or 20 again with 7002", async () => {
    await assignDriver("L1", { driverName: "Bob Vale" });
    expect(await statusOf("L1")).toBe(30);
    await unassignDriver("L1");
    expect(await statusOf("L1")).toBe(10);
    await assignCarrier("L1", "C1");
    await assignDriver("L1", { driverUserName: "ann" });
    await unassignDriver("L1", { driverEmail: "ann@example.com" });
    expect(await statusOf("L1")).toBe(20);
    expect(await site.events()).toEqual([7001, 7002, 7001, 7002]);
  });

  test("the user name goes before e-mail, licence and name", async () => {
    await assignDriver("L1", {
      driverUserName: "bob",
      driverEmail: "ann@example.com",
      driverName: "Ann Hill",
    });
    expect(await assignmentOf("L1")).toMatchObject({ driverUserName: "bob", driverName: "Bob Vale" });
  });

  test("01 takes the driver with the fewest assigned loads and none under way, then by user name", async () => {
    await assignDriver("L1", { assignmentCriteria: "01" });
    await assignDriver("L2", { assignmentCriteria: "01" });
    expect((await assignmentOf("L1")).driverUserName).toBe("ann");
    expect((await assignmentOf("L2")).driverUserName).toBe("bob");
    await site.forceLoad("L1", 40);
    await assignDriver("L3", { assignmentCriteria: "01" });
    expect((await assignmentOf("L3")).driverUserName).toBe("bob");
    await site.forceLoad("L2", 40);
    expect(await codeOf(assignDriver("L3", { assignmentCriteria: 1 }))).toBe("driverNotFound");
  });

  test("01 on a load with a carrier takes only drivers of that carrier", async () => {
    await assignCarrier("L1", "C2");
    expect(await codeOf(assignDriver("L1", { assignmentCriteria: "01" }))).toBe("driverNotFound");
    await site.addDriver({ userName: "zoe", carriers: ["C2"] });
    await assignDriver("L1", { assignmentCriteria: "01" });
    expect((await assignmentOf("L1")).driverUserName).toBe("zoe");
  });

  test("disabled users, users without the role and two of one name are not found", async () => {
    await site.addDriver({ userName: "off", isEnabled: false });
    await site.addDriver({ userName: "clerk", roles: ["DI_Dispatcher"] });
    await site.addDriver({ userName: "twin", fullName: "Bob Vale" });
    for (const body of [{ driverUserName: "off" }, { driverUserName: "clerk" }, { driverName: "Bob Vale" }])
      expect(await codeOf(assignDriver("L1", body))).toBe("driverNotFound");
  });

  test("refusals: nobody named, nobody assigned, another one, a load under way, no such load", async () => {
    expect(await codeOf(assignDriver("L1", {}))).toBe("driverRequired");
    expect(await codeOf(assignDriver("L1", { assignmentCriteria: "02" }))).toBe("driverRequired");
    expect(await codeOf(unassignDriver("L1"))).toBe("notAssigned");
    await assignDriver("L1", { driverUserName: "bob" });
    expect(await codeOf(unassignDriver("L1", { driverUserName: "ann" }))).toBe("notAssigned");
    await site.forceLoad("L1", 40);
    expect(await codeOf(unassignDriver("L1"))).toBe("stopInTransit");
    expect(await codeOf(assignDriver("L1", { driverUserName: "ann" }))).toBe("stopInTransit");
    expect(await codeOf(assignDriver("L9", { driverUserName: "ann" }))).toBe("loadNotFound");
  });

  test("the number may stand in the body, and must be that of the path", async () => {
    await site.call(assignLoadDriver, { ...site.at, body: { loadNbr: "L2", driverUserName: "bob" } });
    expect(await statusOf("L2")).toBe(30);
    const nowhere = site.call(assignLoadDriver, { ...site.at, body: { driverUserName: "bob" } });
    expect(await codeOf(nowhere)).toBe("missing");
    expect(await codeOf(assignDriver("L1", { loadNbr: "L2", driverUserName: "bob" }))).toBe("wrongType");
  });
});

describe("cancel load", () => {
  test("10 and 20 become 99 with the reason; the stops become 10; 7033", async () => {
    await site.importLoads(load("L1", ["S1", "S2"], { loadAssignment: { carrierCode: "C1" } }));
    await site.events();
    await cancel("L1", { reasonCode: "R1", reasonComments: "truck broken" });
    expect(await site.events()).toEqual([7033]);
    expect((await site.load("L1")).loadExecutionInfo).toMatchObject({
      loadStatus: 99,
      cancellation: { reasonCode: "R1", reasonDesc: "truck broken", cancelDTTM: "2026-11-05T08:00:00" },
    });
    expect((await site.load("L1")).stops).toEqual([]);
    expect(await site.stopStatus("S2")).toBe("10");
    expect((await site.stop("S2")).load.loadNbr).toBeNull();
  });

  test("refusals: a driver, under way, final, unknown, and each fault of the body", async () => {
    await site.importLoads(load("L1", [], { loadAssignment: { driverUserName: "ann" } }));
    expect(await codeOf(cancel("L1"))).toBe("loadHasDriver");
    await site.forceLoad("L1", 40);
    expect(await codeOf(cancel("L1"))).toBe("loadHasDriver");
    await site.forceLoad("L1", 90);
    expect(await codeOf(cancel("L1"))).toBe("finalState");
    await site.forceLoad("L1", 99);
    expect(await codeOf(cancel("L1"))).toBe("finalState");
    expect(await codeOf(cancel("L9"))).toBe("loadNotFound");
    const long = cancel("x".repeat(21), { reasonCode: "y".repeat(11), reasonComments: "z".repeat(501) });
    await expect(long).rejects.toMatchObject({
      faults: [
        { code: "tooLong", path: "loadNbr" },
        { code: "tooLong", path: "reasonCode" },
        { code: "tooLong", path: "reasonComments" },
      ],
    });
    await expect(cancel("L1", {})).rejects.toMatchObject({
      faults: [{ code: "missing", path: "reasonCode" }],
    });
  });
});

describe("large and unusual loads", () => {
  test("fields that the specification does not name are given back, and the assignment as it came", async () => {
    await site.importLoads({
      ...load("L1", ["S1"]),
      shipmentType: "extra",
      loadAssignment: { carrierCode: "C1", assignmentCriteria: 5, scac: "ABCD" },
    });
    expect(await site.load("L1")).toMatchObject({
      shipmentType: "extra",
      loadAssignment: { carrierCode: "C1", assignmentCriteria: 5, scac: "ABCD", driverUserName: null },
    });
    await unassignCarrier("L1", "C1");
    expect(await assignmentOf("L1")).toMatchObject({ carrierCode: null, assignmentCriteria: null });
  });

  test("5,000 stops are released with no more work than they were planned with", async () => {
    const stops = Array.from({ length: 5_000 }, (_, at) => `N${at}`);
    const cpuMsOf = async (work: Promise<unknown>) => {
      const began = process.cpuUsage();
      await work;
      const { user, system } = process.cpuUsage(began);
      return (user + system) / 1_000;
    };
    const planned = await cpuMsOf(site.importLoads(load("L1", stops), load("L2")));
    const released = await cpuMsOf(cancel("L1"));
    expect(await site.stopStatus("N4999")).toBe("10");
    // It was many times as much when each stop was looked for among all of the load's.
    expect(released / planned).toBeLessThan(2);
  });

  test("more than 5,000 stops over all loads are 909, whichever load has them", async () => {
    const numbers = (prefix: string, length: number) => Array.from({ length }, (_, at) => `${prefix}${at}`);
    const loads = [load("L1", numbers("A", 2_000)), load("L2", numbers("B", 3_001))];
    await expect(site.askForLoads(...loads)).rejects.toMatchObject({
      faults: [{ code: "tooLarge", path: "loads[1].stops" }],
    });
  });

  test("a stop that was closed on a completed load goes on another load", async () => {
    await site.importLoads(load("L1", ["S1"]));
    await site.forceStop("S1", "80");
    await site.forceLoad("L1", 90);
    expect(await site.importLoads(load("L2", ["S1"]))).toEqual(["Success"]);
    expect((await site.stop("S1")).load.loadNbr).toBe("L2");
  });

  test("an import that comes while the importer falls asleep is applied too", async () => {
    const numbers = Array.from({ length: 60 }, (_, at) => at);
    const outcomes = await Promise.all(
      numbers.map(async (at) => {
        for (let turn = 0; turn < at; turn += 1) await Promise.resolve();
        return await site.importLoads(load(`W${at}`));
      }),
    );
    expect(outcomes.flat()).toEqual(numbers.map(() => "Success"));
  });
});
