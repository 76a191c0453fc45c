/** The newest program on databases that the real programs of earlier schemas have made. */
import { existsSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import BetterSqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { databaseFileName } from "../../src/store/database/database.ts";
import { findSchema } from "../../src/store/database/migrate.ts";
import { migrations } from "../../src/store/database/migrations/migrations.ts";
import { takeProcessLock } from "../../src/store/database/process-lock.ts";
import { currentSchema } from "../../src/store/database/schema-plan.ts";
import {
  type DatabaseFixture,
  databaseFixtures,
  fixturePassword,
  plantDatabase,
} from "../fixtures/databases/fixtures.ts";
import { http, sftp } from "../support/clients.ts";
import { company, oneParser, Site } from "../support/daemon.ts";
import { importLoads, outcome, post } from "../support/gateway-client.ts";
import { runInProcess } from "../support/run-in-process.ts";
import { receiptFor, send, stopFile, writeLocally } from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";
// Databases of schemas before 22 are files of SQLite; on a server none was made by a release.
import { itOnSqlite as test } from "../support/store-dialect.ts";
import { sampled } from "../support/sampled.ts";

let site: Site;

beforeEach(async () => {
  site = await Site.make({ inbound: oneParser });
});
afterEach(() => site.end());

const later = () => join(site.folder, "later");
const copyPath = () => join(site.stateDir, `${databaseFileName}.before-${currentSchema}`);

async function plant(fixture: DatabaseFixture): Promise<void> {
  plantDatabase(site.stateDir, fixture);
  await rm(join(site.stateDir, "companies"), { recursive: true });
  await mkdir(later());
  const targets = { outbound: { type: "folder" }, later: { type: "folder", path: later() } };
  await site.reconfigure({ companies: { [company]: { outbound: { targets } } } });
}

function schemaIn(path: string) {
  const database = new BetterSqlite(path, { readonly: true });
  const { number, fingerprint } = findSchema(database);
  database.close();
  return { number, fingerprint };
}

const host = { userName: "host", password: fixturePassword };
const ann = { userName: "ann", password: fixturePassword };

interface ListedFile {
  readonly state: string;
  readonly enteredAt: string | null;
  readonly filedAt: string | null;
}

async function expectOldState(fixture: DatabaseFixture): Promise<void> {
  const stop = await http(site, `/v5/stop/info/1001/${company}`, host);
  expect(stop.status, stop.body).toBe(200);
  expect(JSON.parse(stop.body)).toMatchObject({ Stop: { stop: { sealNbr: "77" } } });
  const listed = JSON.parse(await runInProcess(site, "files", "--json")) as readonly ListedFile[];
  expect(listed.map(({ state }) => state).sort()).toEqual([
    "applied",
    "applied",
    "applied",
    "duplicate",
    "refused",
    "superseded",
  ]);
  // What was not recorded is told to be so, and not made up.
  expect(listed.flatMap(({ enteredAt, filedAt }) => [enteredAt, filedAt])).toEqual(Array(12).fill(null));
  // The oldest did not note which files name a stop that is not their first.
  const file = fixture.hasFurtherStops ? "1003_20261105_080000.xml" : "Stop 1004, company ACME";
  expect(await runInProcess(site, "explain", "1004")).toContain(file);
  if (!fixture.hasLoad) return;
  const load = await http(site, `/v5/load/info/L1/${company}`, host);
  expect(JSON.parse(load.body)).toMatchObject({ Load: { loadExecutionInfo: { loadStatus: 40 } } });
}

/** The password and the key that the clients of the tests have, in place of those of the fixture. */
async function changeSignIn(): Promise<void> {
  await runInProcess(site, "user", "set-password", "host", "--password-file", site.passwordFile);
  await runInProcess(site, "user", "add-key", "host", "--key", `${site.keyFile}.pub`);
  expect(await send(site, stopFile("1009"))).toMatchObject({ status: 10, records: [1, 0, 0] });
  expect((await http(site, `/v5/stop/info/1009/${company}`)).status).toBe(200);
}

/** A change of a stop that the older program had applied, from a host that signs in with the password it had. */
async function expectFileApplied(): Promise<void> {
  const file = stopFile("1001", { time: "20261106_080000", more: "<SealNbr>78</SealNbr>" });
  await writeLocally(site, [file]);
  const put = await sftp(site, [`put ${file.name} inbound/${file.name}`], host);
  expect(put.exitCode, put.output).toBe(0);
  expect(await receiptFor(site, file.name)).toMatchObject({ status: 10, records: [0, 1, 0] });
  expect(await runInProcess(site, "explain", file.name)).toMatch(/Its host took \d+ ms to send it/);
  const stop = await http(site, `/v5/stop/info/1001/${company}`, host);
  expect(JSON.parse(stop.body)).toMatchObject({ Stop: { stop: { sealNbr: "78" } } });
}

async function report(routeNbr: string, eventCode: string, stopEventData?: object): Promise<void> {
  const geoStamp = { eventDTTM: "2026-11-05T07:30:00", eventTz: "America/Chicago" };
  const data = stopEventData === undefined ? {} : { stopEventData };
  const body = { eventCode, geoStamp, routeNbr, ...data };
  expect(await outcome(post(site, "/v5/event/route", body, ann)), eventCode).toBe("200");
}

/** The driver goes on with the load of the older program; where it had none, with a new one. Ends stop 2002. */
async function expectEventApplied({ hasLoad }: DatabaseFixture): Promise<void> {
  if (!hasLoad) {
    const stops = [{ stopNbr: "2002", to: { address: { addr1: "5 First Street" } } }];
    const load = { loadHeader: { loadNbr: "L1" }, stops, loadAssignment: { driverUserName: "ann" } };
    await importLoads(site, [load]);
    await report("L1", "route.initiated");
  }
  await report("L1", "stop.dropoff.arrival", { stopNbr: "2002" });
  await report("L1", "stop.dropoff.confirmation", { stopNbr: "2002", autoDepart: true });
  const stop = await http(site, `/v5/stop/info/2002/${company}`);
  expect(JSON.parse(stop.body)).toMatchObject({ Stop: { stopExecutionInfo: { stopStatus: "90" } } });
}

/** The completion file of stop 2002, and what the older program could not deliver. */
async function expectDeliveries({ hasDeliveries }: DatabaseFixture): Promise<void> {
  const stops = hasDeliveries ? ["2001", "2002"] : ["2002"];
  await waitFor("the completion files", async () => {
    const names = await readdir(later());
    return stops.every((stop) => names.some((name) => name.includes(stop))) || undefined;
  });
  await waitFor("the completion file in outbound/", async () => {
    const names = await readdir(site.path("outbound"));
    return names.some((name) => name.includes("2002")) || undefined;
  });
}

describe.each(sampled(databaseFixtures, 3).map((fixture) => [fixture.name, fixture] as const))(
  "the database %s",
  (_name, fixture) => {
    test("is migrated, and takes a file, an event and a delivery", async () => {
      await plant(fixture);
      const before = schemaIn(join(site.stateDir, databaseFileName));
      const isOutdated = before.fingerprint !== migrations.at(-1)?.fingerprint;
      const check = await runInProcess(site, "check");
      expect(check.includes("of an older version")).toBe(isOutdated);
      await site.start();
      expect(existsSync(copyPath())).toBe(isOutdated);
      if (isOutdated) expect(schemaIn(copyPath())).toEqual(before);
      await expectOldState(fixture);
      await expectFileApplied();
      await changeSignIn();
      await expectEventApplied(fixture);
      await expectDeliveries(fixture);
      expect((await fetch(`${site.http}/readyz`)).status).toBe(200);
      await site.stop();
      expect(schemaIn(join(site.stateDir, databaseFileName))).toEqual({
        number: currentSchema,
        fingerprint: migrations.at(-1)?.fingerprint,
      });
    });
  },
);

describe("a migration", () => {
  const oldest = databaseFixtures[0];
  if (oldest === undefined) throw new Error("there are no fixtures");

  // `test/nightly/migration-deaths.ts` has it die at every step.
  const deaths: readonly (readonly [point: string, nth: number])[] = [
    ["migrate.begun", 1],
    ["syncFolder@sqlite-schema.copyDatabase", 1],
    ["migrate.stepDone", 1],
    ["migrate.stepDone", 5],
    ["migrate.stepDone", 9],
    ["store.migrated", 1],
  ];
  test.each(sampled(deaths, 3))("goes on after a crash at %s, pass %i", async (point, nth) => {
    await plant(oldest);
    const env = { DROPGATE_KILL_POINT: `${point}:${nth}` };
    const before = schemaIn(join(site.stateDir, databaseFileName));
    await expect(site.start({ env })).rejects.toThrow("ended with 137");
    await site.start();
    expect(schemaIn(copyPath())).toEqual(before);
    await expectOldState(oldest);
    await expectFileApplied();
  });

  test("is not begun by a command while a daemon of the older version runs", async () => {
    await plant(oldest);
    const daemon = takeProcessLock(site.stateDir);
    const listed = await site.cli("user", "list");
    expect(listed.exitCode).toBe(1);
    expect(listed.output).toContain(`is in use by process ${process.pid}: restart dropgate`);
    expect(schemaIn(join(site.stateDir, databaseFileName)).number).toBe(1);
    expect(existsSync(copyPath())).toBe(false);
    daemon.release();
    expect(await site.mustRun("user", "list")).toContain("ann");
    expect(existsSync(copyPath())).toBe(true);
  });
});

test("a database whose tables are no known ones is refused with what differs, by serve and by check", async () => {
  const database = new BetterSqlite(join(site.stateDir, databaseFileName));
  database.exec("alter table stops drop column routed");
  database.close();
  const served = await site.cli("serve");
  expect(served.exitCode).toBe(1);
  expect(served.output).toContain("table stops differs): it was made by another build");
  const checked = await site.cli("check");
  expect(checked.exitCode).toBe(2);
  expect(checked.output).toContain("table stops differs");
  expect(checked.output).not.toContain("marker");
});
