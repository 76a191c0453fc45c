/**
 * What housekeeping ends and removes besides deliveries: holds, appointments, outcomes of imports, positions
 * (specification/limits.md#events-appointments-what-is-kept).
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { describe, expect, onTestFinished, test } from "vitest";
import { positionsPruner } from "../../src/app/retention/record-pruners.ts";
import { countOld, pruneOld } from "../../src/app/retention/run-retention.ts";
import { countsByKind } from "../../src/app/retention/retention.ts";
import { endHolds } from "../../src/app/watch/end-holds.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import type { Config } from "../../src/config/schema.ts";
import {
  cancelOrder,
  home,
  importOrder,
  morning,
  openNorth,
  reserve,
  slotId,
  sumsOf,
} from "../support/appointment-client.ts";
import { readImportInfo } from "../../src/operations/imports/import-info.ts";
import { listTrackedLoads } from "../../src/store/ledger/record-retention.ts";
import { createLocations } from "../../src/inbound/places/locations.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { codeOf, type GatewayStore } from "../support/gateway-store.ts";
import { north, RouteDriver } from "../support/route-driver.ts";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import { openFreshStore } from "../support/fresh-store.ts";
import { cutOffAfter, pruneOldOf } from "../support/run-pruner.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { dayMs, minuteMs } from "../../src/lib/durations.ts";

const day = dayMs;
const going = new AbortController().signal;
/** Of files nothing is kept for a time here. */
const noFiles = {
  locations: createLocations("/nowhere"),
  ledgerNumbers: { seal: String },
  isHeldUp: () => false,
  log: createLogger({ level: "silent" }),
};

/** Of ACME everything is kept for 30 days, of others for the 90 of the standard. */
async function configured(): Promise<Config> {
  const path = join(temporaryFolder(), "dropgate.yaml");
  await writeFile(path, "stateDir: ./var\ncompanies: {ACME: {outbound: {keepDays: 30}}}");
  const loaded = await loadConfig({ path, env: {}, cwd: "/" });
  if (loaded.kind === "faulty") throw new Error("the configuration of the test is faulty");
  return loaded.config;
}

/** What went, by kind; what is counted before is the same. */
async function prune({ store, now }: Pick<GatewayStore, "store" | "now">) {
  const config = await configured();
  const deps = { store, now, clock: { now: () => now }, ...noFiles };
  const counted = countsByKind(await countOld(deps, { config }, going));
  const gone = countsByKind(await pruneOld(deps, { config }, going));
  expect(gone).toEqual(counted);
  return { appointments: 0, imports: 0, positions: 0, ...gone };
}

async function statesOf({ store }: GatewayStore): Promise<readonly string[]> {
  const rows = await store.read.selectFrom("appointments").select("state").orderBy("id").execute();
  return rows.map(({ state }) => state);
}

describe("appointments", () => {
  test("a hold whose time is over is marked, gives its share back, and records nothing", async () => {
    const gateway = await openNorth();
    for (let hold = 0; hold < 2; hold += 1)
      await reserve(gateway, { timeSlotId: await slotId(gateway, morning), ...home });
    gateway.now += 30 * minuteMs - 1;
    const end = (isOurs?: () => boolean) =>
      endHolds({ store: gateway.store, clock: { now: () => gateway.now }, ...(isOurs && { isOurs }) }, going);
    await end();
    expect(await statesOf(gateway)).toEqual(["held", "held"]);
    gateway.now += 1;
    // By a node that has not the company.
    await end(() => false);
    expect(await statesOf(gateway)).toEqual(["held", "held"]);
    await end();
    expect(await statesOf(gateway)).toEqual(["expired", "expired"]);
    expect(await sumsOf(gateway)).toEqual({ counted: {}, kept: {} });
    expect(await gateway.events()).toEqual([]);
  });

  test("that were given back or ran out are removed after the days of the company, those that hold never", async () => {
    const gateway = await openNorth();
    for (const orderId of ["O1", "O2"]) {
      await importOrder(gateway, orderId);
      await reserve(gateway, { timeSlotId: await slotId(gateway, morning), orderId, ...home });
    }
    await cancelOrder(gateway, "O1");
    expect(await statesOf(gateway)).toEqual(["released", "confirmed"]);
    gateway.now += 30 * day;
    expect(await prune(gateway)).toEqual({ appointments: 0, imports: 0, positions: 0 });
    gateway.now += 1;
    expect(await prune(gateway)).toEqual({ appointments: 1, imports: 0, positions: 0 });
    expect(await statesOf(gateway)).toEqual(["confirmed"]);
    const { counted, kept } = await sumsOf(gateway);
    expect(kept).toEqual(counted);
  });
});

describe("outcomes of load imports", () => {
  test("are known for so long, and those that wait for a load stay", async () => {
    const { site } = await RouteDriver.open();
    for (let nbr = 1; nbr <= 7; nbr += 1)
      await site.importLoads({ loadHeader: { loadNbr: `L${nbr}` }, stops: [{ stopNbr: `S${nbr}` }] });
    const imports = await site.store.read
      .selectFrom("imports")
      .select(["id", "guid"])
      .orderBy("id")
      .execute();
    await site.store.write("site", async (tx) => {
      await tx
        .updateTable("imports")
        .set({ finished_at: null })
        .where("id", "=", imports[0]?.id ?? 0)
        .execute();
    });
    site.now += 30 * day;
    expect((await prune(site)).imports).toBe(0);
    site.now += 1;
    expect((await prune(site)).imports).toBe(6);
    const infoOf = (importId = "") =>
      codeOf(site.call(readImportInfo, { companyId: site.companyId, importId }));
    expect([await infoOf(imports[0]?.guid), await infoOf(imports[1]?.guid)]).toEqual([
      "done",
      "loadNotFound",
    ]);
    expect(await site.store.read.selectFrom("import_items").select("load_nbr").execute()).toEqual([
      { load_nbr: "L1" },
    ]);
  });
});

describe("positions", () => {
  async function whereabouts({ site }: RouteDriver) {
    const of = async (table: "positions" | "route_progress") => {
      const rows = await site.store.read
        .selectFrom(table)
        .innerJoin("loads", "loads.id", `${table}.load_id`)
        .select("load_nbr")
        .distinct()
        .orderBy("load_nbr")
        .execute();
      return rows.map(({ load_nbr }) => load_nbr);
    };
    return { positions: await of("positions"), progress: await of("route_progress") };
  }

  async function drive(route: RouteDriver, nbr: string, positions: number): Promise<void> {
    await route.load([{ stopNbr: `S${nbr}`, to: north(5) }], { nbr });
    await route.report("route.initiated", { loadNbr: nbr });
    for (let count = 0; count < positions; count += 1) await route.position(1, { loadNbr: nbr });
  }

  const finish = (route: RouteDriver, nbr: string) =>
    route.report("stop.dropoff.confirmation", { loadNbr: nbr, stopNbr: `S${nbr}`, at: 1_000 });

  test("are looked for from load to load, a few at a time", async () => {
    const route = await RouteDriver.open();
    for (let nbr = 0; nbr < 5; nbr += 1) await drive(route, `L${nbr}`, 2);
    for (const nbr of ["L1", "L2", "L4"]) await finish(route, nbr);
    const { store, companyId, now } = route.site;
    const step = (afterId: number) => listTrackedLoads(store.read, { limit: 2, afterId });
    const over = (id: number) => [{ id, companyId, updatedAt: now }];
    expect([await step(0), await step(2), await step(4)]).toEqual([
      { lastId: 2, over: over(2) },
      { lastId: 4, over: over(3) },
      { lastId: undefined, over: over(5) },
    ]);
  });

  test("of loads that are over are removed after the days of the company; of others never", async () => {
    const route = await RouteDriver.open();
    const all = Array.from({ length: 5 }, (_, at) => `L${at}`);
    for (const nbr of all) await drive(route, nbr, 3);
    for (const nbr of all.slice(1)) await finish(route, nbr);
    // A load of which it was only told afterwards where it was.
    await route.site.store.write("site", async (tx) => {
      const late = tx.selectFrom("loads").select("id").where("load_nbr", "=", "L4");
      await tx.deleteFrom("route_progress").where("load_id", "in", late).execute();
    });
    const before = { positions: all, progress: all.slice(0, 4) };
    route.site.now += 30 * day;
    expect([(await prune(route.site)).positions, await whereabouts(route)]).toEqual([0, before]);
    route.site.now += 1;
    expect([(await prune(route.site)).positions, await whereabouts(route)]).toEqual([
      4,
      { positions: ["L0"], progress: ["L0"] },
    ]);
    // What was reported stays: an event that comes again is still known.
    await finish(route, "L1");
    expect(await route.loadStatus("L1")).toBe(90);
  });
});

test("a pass over positions that is cut off goes on in the next, however many loads stay before what may go", async () => {
  const store = await openFreshStore(temporaryFolder());
  onTestFinished(() => store.close());
  await store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }));
  await store.write(1, async (tx) => {
    await sql`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 1001)
      insert into loads (company_id, load_nbr, load_status, driver, body, extra, execution, created_at, updated_at)
      select 1, 'L' || n, case when n = 1001 then 90 else 10 end, '{}', '{}', '{}', '{}', 1, 1 from numbers`.execute(
      tx,
    );
    await sql`insert into route_progress (load_id, at, latitude, longitude) select id, 1, 0, 0 from loads`.execute(
      tx,
    );
  });
  const kept = async () => (await store.read.selectFrom("route_progress").select("load_id").execute()).length;
  const wanted = { store, now: 100, before: 50, places: new Map() };
  let passes = 0;
  for (; (await kept()) === 1_001; passes += 1) {
    expect(passes).toBeLessThan(20);
    const run = pruneOldOf(positionsPruner, { ...wanted, signal: cutOffAfter(3) });
    await run.catch((error: unknown) => expect(error).toHaveProperty("name", "AbortError"));
  }
  expect(passes).toBeGreaterThan(1);
  // The one after it begins with the first load again.
  await store.write(1, (tx) => tx.updateTable("loads").set({ load_status: 90 }).execute());
  expect((await pruneOldOf(positionsPruner, wanted)).get(1)?.count).toBe(1_000);
});

test("where nothing is old, nothing is written", async () => {
  const { site } = await RouteDriver.open();
  await site.importLoads({ loadHeader: { loadNbr: "L1" }, stops: [{ stopNbr: "S1" }] });
  const store = {
    read: site.store.read,
    write: () => Promise.reject(new Error("something was written")),
  };
  await endHolds({ store, clock: { now: () => site.now } }, going);
  expect(await prune({ store: { ...site.store, ...store }, now: site.now })).toEqual({
    ...{ appointments: 0, imports: 0, positions: 0 },
  });
});
