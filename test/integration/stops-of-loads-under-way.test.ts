/** Who may take a stop from a load that is under way: its host, by sending or deleting the stop itself; no other load. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createDocumentPool } from "../../src/documents/pool/document-pool.ts";
import { submitStopDocument } from "../../src/inbound/submit-stop-document.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { dropoff, other, RouteDriver } from "../support/route-driver.ts";

const documents = createDocumentPool({ log: createLogger({ level: "silent" }), threads: 1 });
beforeAll(() => documents.start(new AbortController().signal));
afterAll(() => documents.stop(new AbortController().signal));

let driver: RouteDriver;

/** L1 is under way with D1, which is closed, and D2. */
beforeEach(async () => {
  driver = await RouteDriver.open();
  await driver.load([dropoff, other]);
  await driver.depart();
  await driver.report("stop.dropoff.closed", { stopNbr: "D1", data: { reasonCode: "HOME" } });
  expect([await driver.site.stopStatus("D1"), await driver.loadStatus()]).toEqual(["80", 40]);
  await driver.site.events();
});

const stopsOf = async (loadNbr: string): Promise<string[]> =>
  (await driver.site.load(loadNbr)).stops.map((one: { stop: { stopNbr: string } }) => one.stop.stopNbr);

async function sendXml(stopFunction: string, stopNbr: string): Promise<number> {
  const { store, companyId, now } = driver.site;
  const submission = { companyId, companyCode: "ACME", userName: "host", requestId: "r" };
  const bytes = Buffer.from(`<Stop><Function>${stopFunction}</Function><StopNbr>${stopNbr}</StopNbr></Stop>`);
  const deps = { store, documents, clock: { now: () => now } };
  return (await submitStopDocument(deps, { ...submission, bytes })).status;
}

test.each([
  ["a stop import", async () => await driver.site.importStops(dropoff)],
  ["Function 01", async () => void expect(await sendXml("01", "D1")).toBe(10)],
])(
  "%s reopens its closed stop, which is free for a new load; the load goes on with the others",
  async (_way, send) => {
    await send();
    expect(await driver.site.events()).toEqual([7044, 7053]);
    expect(await driver.site.stopStatus("D1")).toBe("10");
    expect([await stopsOf("L1"), await driver.loadStatus()]).toEqual([["D2"], 40]);
    expect(await driver.site.importLoads({ loadHeader: { loadNbr: "L2" }, stops: [dropoff] })).toEqual([
      "Success",
    ]);
    expect(await driver.site.stopStatus("D1")).toBe("20");
    await driver.report("stop.dropoff.confirmation", { stopNbr: "D2" });
    expect(await driver.loadStatus()).toBe(90);
  },
);

test("another load does not take its closed stop, until the load is completed", async () => {
  const planAnew = async () =>
    await driver.site.importLoads({ loadHeader: { loadNbr: "L2" }, stops: [dropoff] });
  expect(await planAnew()).toEqual([[906]]);
  expect(await stopsOf("L1")).toEqual(["D1", "D2"]);
  await driver.report("stop.dropoff.confirmation", { stopNbr: "D2" });
  expect([await driver.loadStatus(), await planAnew()]).toEqual([90, ["Success"]]);
});

test("Function 02 deletes any of its stops, also the one that the driver is on the way to; without it the load is completed", async () => {
  expect(await driver.site.stopStatus("D2")).toBe("38");
  expect(await sendXml("02", "D2")).toBe(10);
  expect(await driver.site.stopStatus("D2")).toBe("99");
  expect([await stopsOf("L1"), await driver.loadStatus()]).toEqual([["D1"], 90]);
  expect((await driver.site.events()).toSorted()).toEqual([7005, 7059]);
});

test("an import changes none of its stops that the driver is under way with", async () => {
  await expect(driver.site.importStops(other)).rejects.toMatchObject({ faults: [{ code: "stopInTransit" }] });
  expect(await sendXml("01", "D2")).toBe(99);
  expect(await stopsOf("L1")).toEqual(["D1", "D2"]);
});
