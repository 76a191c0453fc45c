/**
 * `dropgate store copy` with the state of a site that has worked: from SQLite to PostgreSQL, on with the daemon, and back;
 * killed in the middle, and refused where the copy would not be right.
 */
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import BetterSqlite from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { databaseFileName, openStore, unfinishedCopyName } from "../../src/store/database/database.ts";
import { getStop } from "../support/clients.ts";
import { makeConsoleSite, signInToConsole } from "../support/console.ts";
import { company, DaemonRun, lenient, oneParser, type Settings, type Site } from "../support/daemon.ts";
import { dumpTables, numberedTables } from "../support/fill-tables.ts";
import { importLoads, outcome, post } from "../support/gateway-client.ts";
import { nameDatabase, storeReference } from "../support/site-database.ts";
import { askPostgres, hasPostgres, type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { runProgram } from "../support/run-program.ts";
import { program } from "../support/site-template.ts";
import { isOnPostgres } from "../support/store-dialect.ts";
import { deletionFile, fileName, send, stopElement, stopFile, stopsDocument } from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";
import { killedExitCode } from "./crash-host.ts";

const password = "p0stgres-secret";

let server: PostgresServer;
let site: Site;
let alerts: Receiver;
let url: string;
let numbered: ReadonlySet<string>;

const settings = (): Settings => ({
  ...{ security: lenient, inbound: oneParser },
  alerts: { https: { url: alerts.url, allowPlain: true }, checkEveryMs: 1_000 },
  companies: {
    [company]: {
      outbound: {
        targets: {
          outbound: { type: "folder" },
          host: { type: "https", url: "http://127.0.0.1:1/", allowPlain: true },
        },
        exports: { nightly: { schedule: "0 0 1 1 *", form: "document" } },
      },
    },
  },
});

function report(eventCode: string, stopNbr?: string): Promise<string> {
  const geoStamp = {
    eventDTTM: "2026-11-05T09:00:00",
    eventTz: "UTC",
    latitude: 40.7127837,
    longitude: -74.0059731,
  };
  const data = stopNbr === undefined ? {} : { stopEventData: { stopNbr } };
  return outcome(
    post(site, "/v5/event/route", { eventCode, geoStamp, routeNbr: "L1", ...data }, { userName: "driver" }),
  );
}

const documents = `<Documents><Document><DocumentName>Frachtbrief für A\u0026amp;B.pdf</DocumentName><DocumentExtType>PDF</DocumentExtType><DocumentData>${Buffer.from("bytes").toString("base64")}</DocumentData></Document></Documents>`;

/** Files of each outcome, a load that its driver has worked on, an export, an incident, sessions and the audit. */
async function work(): Promise<void> {
  const file = stopFile("S1");
  expect(await send(site, file)).toMatchObject({ status: 10 });
  expect(await send(site, { name: fileName("S1", "070000"), content: file.content })).toMatchObject({
    status: 99,
  });
  expect(await send(site, stopFile("S2", { more: documents }))).toMatchObject({ status: 10 });
  expect(await send(site, deletionFile("S2", "090000"))).toMatchObject({ status: 10 });
  expect(
    await send(site, { name: fileName("BAD"), content: "<Stop><StopNbr>\u00e9\t</StopNbr></Stop>" }),
  ).toMatchObject({ status: 99 });
  const two = stopsDocument([stopElement("S5"), stopElement("S6")]);
  expect(await send(site, { name: fileName("S5"), content: two })).toMatchObject({ status: 10 });
  await importLoads(site, [
    {
      loadHeader: { loadNbr: "L1" },
      stops: [{ stopNbr: "S1" }],
      loadAssignment: { driverUserName: "driver" },
    },
  ]);
  for (const code of ["route.initiated", "route.origin.depart"]) expect(await report(code)).toBe("200");
  expect(await report("stop.dropoff.confirmation", "S1")).toBe("200");
  await waitFor("the completion", async () => (await readdir(site.path("outbound"))).length > 0 || undefined);
  await site.mustRun("export", "--company", company, "--name", "nightly");
  await (await signInToConsole(site, "operator")).get("/console/files");
  await waitFor("the incident", async () => (await site.json<unknown[]>("alerts")).length > 0 || undefined);
}

beforeAll(async () => {
  if (!hasPostgres || isOnPostgres) return;
  alerts = await startReceiver();
  server = await startPostgres();
  url = (await server.makeDatabase("e2e")).replace("dropgate@", `dropgate:${password}@`);
  site = await makeConsoleSite();
  const plain = await server.makeDatabase("plain");
  mkdirSync(join(site.folder, "plain"));
  await (await openStore(join(site.folder, "plain"), { url: plain })).close();
  numbered = await numberedTables(plain);
  await site.reconfigure(settings());
  await site.start();
  await work();
  await site.stop();
  await nameDatabase(site.folder, url);
});
afterAll(async () => {
  if (!hasPostgres || isOnPostgres) return;
  await site.end();
  server.stop();
  await alerts.end();
});

const databasePath = () => join(site.stateDir, databaseFileName);

function dumped(path: string): ReadonlyMap<string, readonly unknown[]> {
  const database = new BetterSqlite(path);
  try {
    return dumpTables(database, numbered);
  } finally {
    database.close();
  }
}

function expectSame(
  found: ReadonlyMap<string, readonly unknown[]>,
  wanted: ReadonlyMap<string, readonly unknown[]>,
) {
  expect([...found.keys()]).toEqual([...wanted.keys()]);
  for (const [table, rows] of wanted) expect(found.get(table), table).toEqual(rows);
}

async function copy(...args: readonly string[]) {
  const result = await site.cli("store", "copy", ...args);
  expect(result.output).not.toContain(password);
  return result;
}

/** The process ends at the step, as at `kill -9`. */
async function dieAt(step: string, ...args: readonly string[]): Promise<void> {
  const died = await runProgram(program, ["store", "copy", ...args, "--config", site.configFile], {
    env: { ...process.env, DROPGATE_KILL_POINT: step },
  });
  expect(died.exitCode, died.output).toBe(killedExitCode);
}

/** What a start with these settings says instead of starting. */
async function refusedStart(): Promise<string> {
  const run = new DaemonRun(site.configFile, {});
  expect(await run.exit).toBe(1);
  return run.text;
}

async function sessionsGone(): Promise<void> {
  const others = "select count(*) from pg_stat_activity where application_name = 'dropgate'";
  await waitFor("the sessions of the killed process to end", async () => {
    return (await askPostgres(url, others))[0]?.[0] === "0" || undefined;
  });
}

async function expectWorks(stopNbr: string): Promise<void> {
  expect(await send(site, stopFile(stopNbr))).toMatchObject({ status: 10, records: [1, 0, 0] });
  expect(await getStop(site, "S1")).toMatchObject({ stopNbr: "S1" });
  expect((await fetch(`${site.http}/readyz`)).status).toBe(200);
  expect(await site.mustRun("ledger", "verify")).toContain("The ledger is correct");
  expect((await (await signInToConsole(site, "operator")).get("/console/files")).status).toBe(200);
}

// One after another: each goes on with the state of the one before.
describe.runIf(hasPostgres && !isOnPostgres)("dropgate store copy", () => {
  let before: ReadonlyMap<string, readonly unknown[]>;

  it("has a rich state before it", () => {
    before = dumped(databasePath());
    const tables = [
      ...["files", "file_stops", "file_faults", "stops", "loads", "imports", "documents", "recorded_events"],
      ...[
        "reported_events",
        "completions",
        "deliveries",
        "delivery_attempts",
        "exports",
        "users",
        "memberships",
      ],
      ...["console_sessions", "audit", "incidents", "daily_files", "outbound_targets"],
    ];
    for (const table of tables) expect(before.get(table)?.length, table).toBeGreaterThan(0);
  });

  it("says what its options may be, and is refused while the daemon runs", async () => {
    expect(await copy()).toMatchObject({ exitCode: 2, output: expect.stringContaining("--to") });
    expect(await copy("--to", "sqlite")).toMatchObject({
      exitCode: 2,
      output: expect.stringMatching(/both are the SQLite file/),
    });
    expect(await copy("--to", "mysql://x")).toMatchObject({
      exitCode: 2,
      output: expect.stringMatching(/--to must be sqlite, postgres/),
    });
    expect(await copy("--to", "env:NO_SUCH")).toMatchObject({
      exitCode: 2,
      output: expect.stringMatching(/NO_SUCH is not set/),
    });
    expect(await copy("--from", url, "--to", url)).toMatchObject({
      exitCode: 2,
      output: expect.stringMatching(/pg_dump/),
    });
    const lost = url.replace("/e2e", "/gone");
    expect(await copy("--to", lost)).toMatchObject({
      exitCode: 1,
      output: expect.stringMatching(/does not exist.*createdb/),
    });
    await site.start();
    const running = await copy("--to", storeReference);
    expect(running).toMatchObject({
      exitCode: 1,
      output: expect.stringMatching(/in use by process \d+: stop dropgate/),
    });
    await site.stop();
    before = dumped(databasePath());
  });

  it.each([["copy.tableWritten:20"], ["copy.compared:1"]])(
    "killed at %s, leaves the source as it was, and a target that no start and no further copy takes",
    async (step) => {
      await dieAt(step, "--to", storeReference, ...(step.includes("compared") ? ["--anew"] : []));
      await sessionsGone();
      expectSame(dumped(databasePath()), before);
      await site.reconfigure({ store: storeReference });
      expect(await refusedStart()).toMatch(
        /copy that was not finished: make it again with `dropgate store copy --anew`/,
      );
      const checked = await site.cli("check");
      expect(checked).toMatchObject({ exitCode: 2, output: expect.stringMatching(/not finished/) });
      await site.configure(settings());
      expect(await copy("--to", storeReference)).toMatchObject({
        exitCode: 1,
        output: expect.stringMatching(/begin anew with --anew/),
      });
    },
  );

  it("copies to PostgreSQL, says so, and the daemon goes on there", async () => {
    const done = await copy("--to", storeReference, "--anew");
    expect(done.output).toMatch(/^files +\d+ +[0-9a-f]{16} +same$/m);
    expect(done.output).toContain("Next ids of the tables: same");
    expect(done.output).toMatch(/The copy is complete: \d+ rows in \d+ tables, read again and compared\./);
    expect(done.output).toContain("Next: name the database in `store`");
    expect(done.exitCode).toBe(0);
    expectSame(dumped(databasePath()), before);
  });

  it("killed on the way back, leaves no database; copied back, each row is the same", async () => {
    await site.reconfigure({ store: storeReference });
    const there = await copy("--to", "sqlite");
    expect(there).toMatchObject({
      exitCode: 1,
      output: expect.stringMatching(/dropgate\.db is there already.*move it away first/),
    });
    const away = join(site.folder, "away.db");
    renameSync(databasePath(), away);
    await dieAt("copy.tableWritten:30", "--to", "sqlite");
    await sessionsGone();
    expect(existsSync(databasePath())).toBe(false);
    expect(existsSync(join(site.stateDir, unfinishedCopyName))).toBe(true);
    await site.configure(settings());
    expect(await refusedStart()).toMatch(/dropgate\.db\.copying is of a copy that was not finished/);
    expect(await copy("--from", storeReference, "--to", "sqlite")).toMatchObject({
      exitCode: 1,
      output: expect.stringMatching(/begin anew with --anew/),
    });
    await dieAt("copy.compared:1", "--from", storeReference, "--to", "sqlite", "--anew");
    await sessionsGone();
    const back = await copy("--from", storeReference, "--to", "sqlite", "--anew", "--json");
    expect(JSON.parse(back.stdout)).toMatchObject({
      isComplete: true,
      areCountersSame: true,
      direction: "to sqlite",
    });
    expectSame(dumped(databasePath()), before);
    renameSync(databasePath(), away);
  });

  it("leaves a state on PostgreSQL that a daemon takes files with; it is refused while that runs", async () => {
    await site.reconfigure({ store: storeReference });
    expect((await site.cli("check")).output).not.toMatch(/not finished|restored/);
    await site.start();
    await expectWorks("S3");
    expect(await copy("--to", "sqlite")).toMatchObject({
      exitCode: 1,
      output: expect.stringMatching(/in use by process|sessions of dropgate are connected/),
    });
    await site.stop();
  });

  it("comes back to SQLite with what was taken meanwhile, and the daemon goes on there", async () => {
    expect(await copy("--to", "sqlite")).toMatchObject({ exitCode: 0 });
    await site.configure(settings());
    await site.start();
    expect(await getStop(site, "S3")).toMatchObject({ stopNbr: "S3" });
    await expectWorks("S4");
  });
});
