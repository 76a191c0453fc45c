/**
 * Stops, ASNs and recorded events of the gateway: the rows of the state table
 * (specification/stop-states.md#imports-of-a-stop), one test each.
 */
import { beforeEach, describe, expect, test } from "vitest";
import type { StopStatus } from "../../src/domain/stop/stop-status.ts";
import { importStops } from "../../src/operations/imports/import-stops.ts";
import { readEventList } from "../../src/operations/stops/event-list.ts";
import { rejectAsn, rejectStop } from "../../src/operations/stops/reject-stop.ts";
import { assignStopCarrier, unassignStopCarrier } from "../../src/operations/stops/stop-carrier.ts";
import { codeOf, GatewayStore, load, stop } from "../support/gateway-store.ts";

let site: GatewayStore;

beforeEach(async () => {
  site = await GatewayStore.open();
  await site.addPartner("C1", "C2");
});

const reject = (stopNbr: string, rest: object = { reasonCode: "R1" }) =>
  site.call(rejectStop, { ...site.at, body: { stopNbr, ...rest } });
const deleteAsn = (stopNbr: string) =>
  site.call(rejectAsn, { ...site.at, body: { stopNbr, reasonCode: "R1" } });
const assign = (stopNbr: string, body: object) => site.call(assignStopCarrier, { ...site.at, stopNbr, body });
const unassign = (stopNbr: string, body: object) =>
  site.call(unassignStopCarrier, { ...site.at, stopNbr, body });

async function inStatus(stopNbr: string, status: StopStatus): Promise<void> {
  await site.importStops(stop(stopNbr));
  await site.forceStop(stopNbr, status);
  await site.events();
}

describe("stop import", () => {
  test("a new stop is 10 with a time window and 05 without, and no event", async () => {
    await site.importStops(stop("S1"), { stopNbr: "S2" });
    expect([await site.stopStatus("S1"), await site.stopStatus("S2")]).toEqual(["10", "05"]);
    expect(await site.events()).toEqual([]);
  });

  test.each([
    ["00", "10", [7053]],
    ["05", "10", [7053]],
    ["10", "10", [7053]],
    ["20", "20", [7053]],
    ["80", "10", [7044, 7053]],
    ["99", "10", []],
  ] as const)("one in %s becomes %s and records %j", async (before, after, events) => {
    await inStatus("S1", before);
    await site.importStops(stop("S1", { bol: "new" }));
    expect(await site.stopStatus("S1")).toBe(after);
    expect((await site.stop("S1")).stop).toMatchObject({ bol: "new" });
    expect(await site.events()).toEqual(events);
  });

  test.each([
    ["24", "stopInTransit"],
    ["27", "stopInTransit"],
    ["30", "stopInTransit"],
    ["38", "stopInTransit"],
    ["50", "stopInTransit"],
    ["90", "finalState"],
    ["91", "finalState"],
  ] as const)("one in %s is refused as %s, with all of the request", async (status, code) => {
    await inStatus("S1", status);
    const work = site.importStops(stop("S2"), stop("S1"));
    await expect(work).rejects.toMatchObject({ code, faults: [{ code, path: "stops[1]", stopNbr: "S1" }] });
    expect(await codeOf(site.stop("S2"))).toBe("stopNotFound");
  });

  test("markAsReceived sets the receipt of goods once; 8100", async () => {
    await site.importStops(stop("S1", { markAsReceived: true, receivedDttm: "2026-11-4T7:0:0" }));
    await site.importStops(stop("S1", { markAsReceived: true, receivedDttm: "2026-11-05T07:00:00" }));
    expect(await site.events()).toEqual([8100, 7053]);
    expect((await site.stop("S1")).stopExecutionInfo).toMatchObject({
      receiveStatus: "10",
      receiveDTTM: "2026-11-04T07:00:00",
    });
  });

  test("every form that hosts send is taken and given back in one", async () => {
    const to = { schedule: { timeFrom: "2026-11-6T8:0:0", estDuration: 15, timeZone: "EST" } };
    await site.importStops({
      stopNbr: "S1",
      from: { address: { city: "Ulm", latitude: "", longitude: null }, to },
      comments: { commentType: 5, commentDescription: "ring twice" },
      weight: 12.5,
      sealNbr: "007",
      shipmentType: { kept: ["as", "it", "came"] },
    });
    expect((await site.stop("S1")).stop).toEqual({
      stopNbr: "S1",
      from: { address: { city: "Ulm", latitude: "", longitude: null } },
      to: { schedule: { timeFrom: "2026-11-06T08:00:00", estimatedDuration: "15", timeZone: "EST" } },
      comments: [{ commentType: 5, commentDescription: "ring twice" }],
      weight: 12.5,
      sealNbr: "007",
      shipmentType: { kept: ["as", "it", "came"] },
    });
  });

  test("every fault is told with its path, up to 50, and nothing is changed", async () => {
    const stops = [
      stop("S1"),
      { stopNbr: "x".repeat(21), to: { address: { zip: 7 } } },
      { to: { schedule: { timeFrom: "2026-02-30T08:00:00", timeZone: "Mars/Base" } } },
      ...Array.from({ length: 60 }, (_, index) => ({ stopNbr: `N${index}`, stopDetails: "none" })),
    ];
    await expect(site.importStops(...stops)).rejects.toMatchObject({
      faults: expect.arrayContaining([
        expect.objectContaining({ code: "tooLong", path: "stops[1].stopNbr" }),
        expect.objectContaining({ code: "wrongType", path: "stops[1].to.address.zip" }),
        expect.objectContaining({ code: "missing", path: "stops[2].stopNbr" }),
        expect.objectContaining({ code: "badDate", path: "stops[2].to.schedule.timeFrom" }),
        expect.objectContaining({ code: "badDate", path: "stops[2].to.schedule.timeZone" }),
        expect.objectContaining({ code: "wrongType", path: "stops[3].stopDetails" }),
      ]),
    });
    // One more than is told: by it the last of them says that there are more.
    await expect(site.importStops(...stops)).rejects.toHaveProperty("faults.length", 51);
    expect(await codeOf(site.stop("S1"))).toBe("stopNotFound");
  });

  test("fields that the specification does not name are refused when that is wanted", async () => {
    const rules = { maxEntries: 5, unknownFields: "refuse" } as const;
    const body = {
      companyCode: "ACME",
      stops: [{ stopNbr: "S1", colour: 1, to: { address: { planet: "x" } } }],
    };
    const work = site.call(importStops, { ...site.at, serviceName: "default", body, rules });
    await expect(work).rejects.toMatchObject({
      faults: [{ path: "stops[0].colour" }, { path: "stops[0].to.address.planet" }],
    });
  });

  test("another serviceName is 908, another company 905, too many 909, none 903", async () => {
    const send = (body: unknown, serviceName = "default") =>
      codeOf(
        site.call(importStops, {
          ...site.at,
          serviceName,
          body,
          rules: { maxEntries: 2, unknownFields: "keep" },
        }),
      );
    expect(await send({ companyCode: "ACME", stops: [stop("S1")] }, "sap")).toBe("unknownService");
    expect(await send({ companyCode: "OTHER", stops: [stop("S1")] })).toBe("companyDiffers");
    expect(await send({ companyCode: "ACME", stops: [stop("S1"), stop("S2"), stop("S3")] })).toBe("tooLarge");
    expect(await send({ companyCode: "ACME", stops: [] })).toBe("emptyList");
    expect(await send({ companyCode: "ACME" })).toBe("emptyList");
    expect(await send({ stops: [stop("S1")] })).toBe("missing");
    expect(await send([])).toBe("wrongType");
  });
});

describe("ASN import", () => {
  test("new or in 00 it is 00, with 7053 on update; cancelled it is made anew", async () => {
    await site.importAsns(stop("A1"));
    expect(await site.events()).toEqual([]);
    await site.importAsns(stop("A1"));
    expect(await site.events()).toEqual([7053]);
    expect(await site.stopStatus("A1")).toBe("00");
    await deleteAsn("A1");
    await site.importAsns(stop("A1"));
    expect(await site.stopStatus("A1")).toBe("00");
  });

  test.each(["05", "10", "20", "30", "80", "90"] as const)("one in %s is refused", async (status) => {
    await inStatus("A1", status);
    expect(await codeOf(site.importAsns(stop("A1")))).toBe("stopNotAsn");
    expect(await site.stopStatus("A1")).toBe(status);
  });

  test("a stop import makes it a stop", async () => {
    await site.importAsns(stop("A1"));
    await site.importStops(stop("A1"));
    expect(await site.stopStatus("A1")).toBe("10");
  });
});

describe("delete/reject", () => {
  test.each(["05", "10"] as const)("a stop in %s becomes 99 with its cancellation; 7059", async (status) => {
    await inStatus("S1", status);
    await reject("S1", { reasonCode: "R1", reasonComments: "customer closed" });
    expect(await site.events()).toEqual([7059]);
    expect((await site.stop("S1")).stopExecutionInfo).toMatchObject({
      stopStatus: "99",
      cancellation: {
        reasonCode: "R1",
        reasonDesc: "customer closed",
        cancelDTTM: "2026-11-05T08:00:00",
        cancelTimeZone: "UTC",
      },
    });
  });

  test.each(["00", "20", "24", "50", "80", "90", "99"] as const)("a stop in %s stays", async (status) => {
    await inStatus("S1", status);
    expect(await codeOf(reject("S1"))).toBe("stopNotOpen");
    expect(await site.stopStatus("S1")).toBe(status);
    expect(await site.events()).toEqual([]);
  });

  test("an ASN in 00 becomes 99, nothing else does; unknown numbers are 921", async () => {
    await site.importAsns(stop("A1"));
    await site.importStops(stop("S1"));
    await deleteAsn("A1");
    expect(await site.stopStatus("A1")).toBe("99");
    expect(await codeOf(deleteAsn("A1"))).toBe("stopNotAsn");
    expect(await codeOf(deleteAsn("S1"))).toBe("stopNotAsn");
    expect(await codeOf(deleteAsn("X"))).toBe("stopNotFound");
    expect(await codeOf(reject("X"))).toBe("stopNotFound");
    expect(await codeOf(reject("S1", {}))).toBe("missing");
  });
});

describe("assign and unassign carrier", () => {
  test.each(["00", "05", "10", "20"] as const)("a stop in %s gets and loses its carrier", async (status) => {
    await inStatus("S1", status);
    await assign("S1", { carrierCode: "C1", assignmentCriteria: "02" });
    expect((await site.stop("S1")).stop.stopAssignment).toEqual({
      carrierCode: "C1",
      assignmentCriteria: "02",
    });
    await unassign("S1", { carrierCode: "C1" });
    expect((await site.stop("S1")).stop.stopAssignment).toBeUndefined();
    expect(await site.stopStatus("S1")).toBe(status);
    expect(await site.events()).toEqual([]);
  });

  test("refusals: unknown stop, unknown carrier, another one, under way, final, faults of the body", async () => {
    await site.importStops(stop("S1"));
    expect(await codeOf(assign("X", { carrierCode: "C1" }))).toBe("stopNotFound");
    expect(await codeOf(assign("S1", { carrierCode: "C9" }))).toBe("partnerNotFound");
    expect(await codeOf(unassign("S1", { carrierCode: "C1" }))).toBe("notAssigned");
    await assign("S1", { carrierCode: "C1" });
    expect(await codeOf(unassign("S1", { carrierCode: "C2" }))).toBe("notAssigned");
    expect(await codeOf(assign("S1", {}))).toBe("missing");
    expect(await codeOf(assign("S1", { carrierCode: "x".repeat(11) }))).toBe("tooLong");
    expect(await codeOf(assign("S1", { carrierCode: "C1", companyCode: "OTHER" }))).toBe("companyDiffers");
    await site.forceStop("S1", "24");
    expect(await codeOf(assign("S1", { carrierCode: "C2" }))).toBe("stopInTransit");
    await site.forceStop("S1", "90");
    expect(await codeOf(unassign("S1", { carrierCode: "C1" }))).toBe("finalState");
  });
});

describe("recorded events", () => {
  const guid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
  const list = (query: Record<string, string>) =>
    site.call(readEventList, {
      companyId: site.companyId,
      parameters: Object.entries(query).map(([name, value]) => ({ name, value })),
    });

  beforeEach(async () => {
    await site.importStops(stop("S1", { markAsReceived: true }));
    site.now += 60_000;
    await site.importLoads(load("L1", ["S1"]));
  });

  test("of a stop and of a load, in their order, with codes, names and times", async () => {
    const { Events } = await list({ stopNbr: "S1" });
    expect(Events).toEqual([
      {
        eventId: expect.stringMatching(guid),
        eventCode: 8100,
        eventName: "Stop Received",
        stopNbr: "S1",
        eventDTTM: "2026-11-05T08:00:00",
        eventTz: "UTC",
      },
      {
        eventId: expect.stringMatching(guid),
        eventCode: 7028,
        eventName: "STOP PLANNED",
        loadNbr: "L1",
        stopNbr: "S1",
        eventDTTM: "2026-11-05T08:01:00",
        eventTz: "UTC",
      },
    ]);
    expect((await list({ loadNbr: "L1" })).Events.map(({ eventCode }) => eventCode)).toEqual([7000, 7028]);
  });

  test("since takes the last known eventId or a time, and limit cuts", async () => {
    const [first, last] = (await list({ stopNbr: "S1" })).Events.map(({ eventId }) => eventId);
    expect((await list({ stopNbr: "S1", since: String(first) })).Events).toHaveLength(1);
    expect((await list({ stopNbr: "S1", since: "2026-11-05T08:00:30" })).Events).toHaveLength(1);
    expect((await list({ stopNbr: "S1", since: String(last) })).Events).toEqual([]);
    expect((await list({ stopNbr: "S1", limit: "1" })).Events[0]?.eventCode).toBe(8100);
  });

  test.each([
    [{}, "missing"],
    [{ stopNbr: "X" }, "stopNotFound"],
    [{ loadNbr: "X" }, "loadNotFound"],
    [{ stopNbr: "S1", colour: "red" }, "unknownFilter"],
    [{ stopNbr: "S1", limit: "0" }, "wrongType"],
    [{ stopNbr: "S1", since: "yesterday" }, "badDate"],
    [{ stopNbr: "S1", since: "1" }, "badDate"],
    [{ stopNbr: "S1", since: "5c1e0f2a-7d3b-49c6-8a10-2f6e9b04d7c3" }, "badDate"],
  ])("%j is refused as %s", async (query, code) => {
    expect(await codeOf(list(query as Record<string, string>))).toBe(code);
  });
});
