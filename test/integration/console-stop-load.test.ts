/** The pages of a stop and of a load, with what drivers have reported on a real store. */
import { describe, expect, test } from "vitest";
import { queryLoad } from "../../src/app/console/queries/load.ts";
import { queryStop } from "../../src/app/console/queries/stop.ts";
import type { Config } from "../../src/config/schema.ts";
import type { ConsoleRoute } from "../../src/endpoints/http/console/console-route.ts";
import type { ConsoleServices } from "../../src/endpoints/http/console/console-services.ts";
import { consoleRequest, consoleUser } from "../../src/endpoints/http/console/testing/viewer.ts";
import { loadPage } from "../../src/endpoints/http/console/pages/load/load-page.ts";
import { stopPage } from "../../src/endpoints/http/console/pages/stop/stop-page.ts";
import { ledgerNumberKind } from "../../src/inbound/receipts/receipts.ts";
import { given } from "../../src/lib/given.ts";
import { newGuid } from "../../src/lib/ids.ts";
import { createSealedNumbers, newSealingKey } from "../../src/lib/sealed-numbers.ts";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import { enterFile, recordDecision } from "../../src/store/ledger/files.ts";
import { insertImport, insertImportItem } from "../../src/store/stops/imports.ts";
import { both, dropoff, kilometre, north, RouteDriver } from "../support/route-driver.ts";

const ledgerNumbers = createSealedNumbers(newSealingKey(), ledgerNumberKind);

const contextOf = ({ site }: RouteDriver) => ({
  ...{ read: site.store.read, stateDir: "/nowhere", ledgerNumbers, now: site.now, timeLeftMs: () => 2_000 },
  config: { events: { geofenceRadius: 200 } } as Config,
});
const scopeOf = ({ site }: RouteDriver) => ({
  companies: [{ id: site.companyId, code: "ACME" }],
  isOperator: false,
});

const stopOf = (driver: RouteDriver, stopNbr: string) =>
  queryStop(contextOf(driver), scopeOf(driver), { companyCode: "acme", stopNbr });
async function loadOf(driver: RouteDriver, loadNbr = "L1", importsBefore?: string) {
  const asked = { companyCode: "ACME", loadNbr, ...given({ importsBefore }) };
  const load = await queryLoad(contextOf(driver), scopeOf(driver), asked);
  if (load === undefined) throw new Error("the load is not found");
  return load;
}

/** The page as a viewer of ACME gets it. */
async function pageOf(driver: RouteDriver, route: ConsoleRoute, params: Readonly<Record<string, string>>) {
  const services = {
    basePath: () => "",
    ask: async (name: string, scope: ReturnType<typeof scopeOf>, asked: never) =>
      name === "stop"
        ? await queryStop(contextOf(driver), scope, asked)
        : await queryLoad(contextOf(driver), scope, asked),
  } as unknown as ConsoleServices;
  const { companyId: id } = driver.site;
  const user = consoleUser({ companies: [{ id, code: "ACME", roles: ["DI_Inquiry"] }] });
  const { status, body } = await route.run(services, consoleRequest({ user, params }));
  return { status, text: String(body) };
}

const scheduled = (stop: object, timeFrom: string, timeTo: string, timeZone = "America/New_York") => ({
  ...stop,
  to: { ...north(3), schedule: { timeFrom, timeTo, timeZone } },
});

/** L1 with two stops, on its way: B1 was picked up, D1 is expected. */
async function underWay(): Promise<RouteDriver> {
  const driver = await RouteDriver.open();
  const late = scheduled(dropoff, "2026-11-05T02:00:00", "2026-11-05T02:30:00");
  await driver.load([both, late], { header: { loadTimeZone: "America/New_York" } });
  await driver.depart();
  await driver.report("stop.pickup.arrival", { stopNbr: "B1", at: 20 });
  await driver.report("stop.pickup.confirmation", { stopNbr: "B1" });
  await driver.position(1.5, { at: 30 });
  await driver.position(1.9);
  return driver;
}

describe("a load in the console", () => {
  test("has planned, expected and actual times of each visit, and the way", async () => {
    const load = await loadOf(await underWay());
    expect(load).toMatchObject({ loadNbr: "L1", status: 40, driver: { userName: "ann" }, positions: 2 });
    const [pickup, drop] = load.stops[0]?.visits ?? [];
    expect(pickup).toMatchObject({
      party: "from",
      arrivedAt: Date.UTC(2026, 10, 5, 8, 20),
      radiusMetres: 200,
    });
    expect(drop).toMatchObject({ party: "to", place: { latitude: 2 * kilometre, longitude: 0 } });
    const [late] = load.stops[1]?.visits ?? [];
    expect(late).toMatchObject({ zone: "America/New_York", timeTo: Date.UTC(2026, 10, 5, 7, 30) });
    expect(late?.expectedAt).toBeGreaterThan(Date.UTC(2026, 10, 5, 8));
    expect(load.track.map(({ place }) => place.latitude / kilometre)).toEqual([1.5, 1.9]);
    expect(load.last?.at).toBe(Date.UTC(2026, 10, 5, 8, 31));
    expect(load.imports.shown).toMatchObject([{ state: "applied", user: "host", reasons: [] }]);
    expect(load.events.map(({ code }) => code)).toContain(7007);
  });

  test("is shown with two pictures and tables, the late stop marked", async () => {
    const { status, text } = await pageOf(await underWay(), loadPage, { companyCode: "ACME", loadNbr: "L1" });
    expect(status).toBe(200);
    expect(text.match(/<svg [^>]*role="img"/g)).toHaveLength(2);
    expect(text).toContain("A stop is late.");
    expect(text).toContain("picture-here");
    expect(text).toMatch(/America\/<wbr>New_York<\/span> at the stop/);
    expect(text).not.toMatch(/ style=| on[a-z]+="|NaN|undefined/);
  });

  test("whose last import was refused says why", async () => {
    const driver = await underWay();
    await driver.site.importLoads({ loadHeader: { loadNbr: "L1" }, stops: [both] });
    const { imports } = await loadOf(driver);
    expect(imports.shown.map(({ state }) => state)).toEqual(["refused", "applied"]);
    expect(imports.shown[0]?.reasons[0]).toMatchObject({ reasonCode: 906 });
    const { text } = await pageOf(driver, loadPage, { companyCode: "ACME", loadNbr: "L1" });
    expect(text).toContain("Its newest import was refused");
    expect(text).toContain("Reason 906:");
  });

  test("has its imports however many came since, page by page", async () => {
    const driver = await underWay();
    const { store, companyId } = driver.site;
    const [own] = (await loadOf(driver)).imports.shown;
    const globex = { code: "GLOBEX", createdAt: 1 };
    await store.write("site", async (tx) => {
      const { company: other } = await insertCompany(tx, globex);
      for (let count = 0; count < 450; count += 1) {
        const entry = { guid: newGuid(), companyId, serviceName: "default", userName: "host" };
        const importId = await insertImport(tx, { ...entry, receivedAt: driver.site.now + 1 + (count % 7) });
        await insertImportItem(tx, { importId, position: 0, loadNbr: count < 30 ? "L1" : "L2", body: "{}" });
        const foreign = { ...entry, guid: newGuid(), companyId: other.id, receivedAt: driver.site.now };
        const foreignId = await insertImport(tx, foreign);
        await insertImportItem(tx, { importId: foreignId, position: 0, loadNbr: "L1", body: "{}" });
      }
    });
    const first = await loadOf(driver);
    expect(first.imports.shown).toHaveLength(20);
    const rest = await loadOf(driver, "L1", first.imports.before);
    expect(rest.imports.shown).toHaveLength(11);
    expect([rest.imports.shown.at(-1)?.guid, rest.imports.before]).toEqual([own?.guid, undefined]);
    // What is wrong is told of the newest, whichever page is shown.
    expect(rest.newestImport?.guid).toBe(first.imports.shown[0]?.guid);
    const all = [...first.imports.shown, ...rest.imports.shown].map(({ guid }) => guid);
    expect(new Set(all).size).toBe(31);
  });

  test("of another company is not there, whoever operates the site", async () => {
    const driver = await underWay();
    const created = { code: "GLOBEX", createdAt: 1 };
    const { company } = await driver.site.store.write("site", (tx) => insertCompany(tx, created));
    const others = { companies: [{ id: company.id, code: "GLOBEX" }], isOperator: true };
    const key = { loadNbr: "L1", stopNbr: "B1" };
    for (const companyCode of ["ACME", "GLOBEX"]) {
      expect(await queryLoad(contextOf(driver), others, { companyCode, ...key })).toBeUndefined();
      expect(await queryStop(contextOf(driver), others, { companyCode, ...key })).toBeUndefined();
    }
    expect((await pageOf(driver, loadPage, { companyCode: "ACME", loadNbr: "L2" })).status).toBe(404);
  });

  test("with 503 stops and thousands of positions shows 500, counts all, and thins the way out", async () => {
    const driver = await RouteDriver.open();
    const stops = Array.from({ length: 503 }, (_, index) => ({
      stopNbr: `S${index}`,
      to: north(index / 10),
    }));
    await driver.load(stops);
    const row = await driver.site.store.read.selectFrom("loads").select("id").executeTakeFirstOrThrow();
    await driver.site.store.write("site", async (tx) => {
      await tx
        .updateTable("stops")
        .set({ stop_status: "90" })
        .where("stop_nbr", "not in", ["S0", "S502"])
        .execute();
      for (let at = 0; at < 6_000; at += 1)
        await tx
          .insertInto("positions")
          .values({
            ...{ load_id: row.id, at, event_dttm: "", event_tz: "UTC", reported_by: "ann" },
            ...{ latitude: at / 10_000, longitude: 0 },
          })
          .execute();
    });
    const load = await loadOf(driver);
    expect([load.stops.length, load.moreStops, load.positions, load.track.length]).toEqual([
      500, 3, 6_000, 500,
    ]);
    expect([load.track[0]?.at, load.track.at(-1)?.at]).toEqual([1_000, 5_999]);
    const { text } = await pageOf(driver, loadPage, { companyCode: "ACME", loadNbr: "L1" });
    expect(text.length).toBeLessThan(1_500_000);
    expect(text).toContain("501 of 503 done");
  });
});

describe("a stop in the console", () => {
  test("has its visits, its load, its events and its exceptions, found in any case", async () => {
    const stop = await stopOf(await underWay(), "b1");
    expect(stop).toMatchObject({ stopNbr: "B1", visitKind: "pickupAndDropoff", load: { loadNbr: "L1" } });
    expect(stop?.visits.map(({ party }) => party)).toEqual(["from", "to"]);
    expect(stop?.events.at(-1)?.happenedAt).toBeGreaterThanOrEqual(Date.UTC(2026, 10, 5, 8, 20));
    expect(await stopOf(await underWay(), "none")).toBeUndefined();
  });

  test("whose newest file was refused says so first, with the remedy and the link", async () => {
    const driver = await underWay();
    const { companyId, store } = driver.site;
    const name = "d1_20261105_090000.xml";
    const id = await store.write("site", async (tx) => {
      const arrival = { channel: "sftp", userName: "host", receivedAt: driver.site.now, location: "x" };
      const file = await enterFile(tx, { companyId, name, nameTime: 20261105090000, size: 1, ...arrival });
      await recordDecision(tx, {
        ...{ id: file, state: "refused", location: "y", decidedAt: driver.site.now, sha256: "s", size: 1 },
        ...{ stopFunction: "01", stopNbr: "D1", documentId: null, firstId: null },
        ...{ created: 0, updated: 0, deleted: 0 },
        faults: [{ code: "stopInTransit", message: "stop D1 is on its way" }],
      });
      return file;
    });
    const { text } = await pageOf(driver, stopPage, { companyCode: "ACME", stopNbr: "D1" });
    expect(text).toMatch(new RegExp(`The newest file of this stop, ${name}, was refused`));
    expect(text).toContain(`/console/files/${ledgerNumbers.seal(id)}`);
    expect(text).toContain("The driver is on the way: wait until the stop is closed.");
    expect(text).toContain("stop D1 is on its way");
    expect(text).toMatch(/Drop-off: it is late/);
    expect(text).not.toMatch(/ style=| on[a-z]+="|NaN|undefined/);
  });

  test("with hostile texts and documents is shown safely", async () => {
    const driver = await RouteDriver.open();
    const hostile = '"><script>alert(1)</script>\u202E';
    await driver.site.importStops({
      ...{ stopNbr: "H1", shipmentNbr: "<i>7</i>" },
      to: {
        address: { name: hostile, addr1: hostile },
        schedule: { timeFrom: "2026-11-05T09:00:00", timeZone: "UTC" },
      },
      documents: [{ documentName: `${hostile}.pdf`, documentData: Buffer.from("text").toString("base64") }],
    });
    const stop = await stopOf(driver, "H1");
    expect(stop?.documents).toEqual([{ name: `${hostile}.pdf`, type: null, size: 4 }]);
    const { text } = await pageOf(driver, stopPage, { companyCode: "ACME", stopNbr: "H1" });
    expect(text).not.toContain("<script>alert");
    expect(text).not.toContain("\u202E");
    expect(text).toContain("4 B");
    expect(text).toContain("it is on no load");
  });
});
