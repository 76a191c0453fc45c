/** The real program with its database on PostgreSQL: all that it does there, and what it does while the server is away. */
import { existsSync, readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { getStop, http, sftp } from "../support/clients.ts";
import { signInToConsole } from "../support/console.ts";
import { company, DaemonRun, lenient, oneParser, type Site } from "../support/daemon.ts";
import { importLoads, outcome, post } from "../support/gateway-client.ts";
import { makePostgresSite } from "../support/postgres-site.ts";
import { hasPostgres, type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { nameDatabase } from "../support/site-database.ts";
import {
  deletionFile,
  filedIn,
  type StopFile,
  receiptFor,
  send,
  stopFile,
  waitingIn,
  writeLocally,
} from "../support/stop-files.ts";
import { makeToldSystemd } from "../support/told-systemd.ts";
import { waitFor } from "../support/wait-for.ts";

const password = "p0stgres-secret";

let server: PostgresServer;
let site: Site;
let url: string;

const withPassword = (address: string, user = "dropgate") =>
  address.replace("dropgate@", `${user}:${password}@`);

beforeAll(async () => {
  if (!hasPostgres) return;
  server = await startPostgres();
  url = withPassword(await server.makeDatabase("e2e"));
  site = await makePostgresSite(url, {
    ...{ security: lenient, inbound: oneParser },
    companies: { [company]: { outbound: { targets: { outbound: { type: "folder" } } } } },
  });
  await site.addUser("ann", ["DI_Driver"]);
  await site.start();
});
afterAll(async () => {
  if (!hasPostgres) return;
  await site.end();
  server.stop();
});

function report(eventCode: string, stopNbr?: string): Promise<string> {
  const geoStamp = { eventDTTM: "2026-11-05T09:00:00", eventTz: "UTC" };
  const data = stopNbr === undefined ? {} : { stopEventData: { stopNbr } };
  return outcome(
    post(site, "/v5/event/route", { eventCode, geoStamp, routeNbr: "L1", ...data }, { userName: "ann" }),
  );
}

async function completions(): Promise<readonly string[]> {
  return (await readdir(site.path("outbound"))).filter((name) => !name.startsWith("."));
}

interface Sent {
  readonly stops: readonly string[];
  readonly files: readonly StopFile[];
}

/** Sends three files of each of some stops, and disturbs the server when the first ones are decided. */
async function sendBeside(prefix: string, disturb: () => Promise<void>): Promise<Sent> {
  const stops = Array.from({ length: 8 }, (_, at) => `${prefix}${at}`);
  const files = stops.flatMap((nbr) => [
    stopFile(nbr),
    stopFile(nbr, { time: "090000" }),
    deletionFile(nbr, "100000"),
  ]);
  await writeLocally(site, files);
  // One session for all: a new one could not sign in while the server is away.
  const sending = sftp(
    site,
    files.map(({ name }) => `put ${name} inbound/${name}`),
  );
  await receiptFor(site, files[2]?.name ?? "");
  await disturb();
  expect((await sending).exitCode).toBe(0);
  return { stops, files };
}

/** All of them are applied, each once, those of a stop in their order. */
async function expectInOrder({ stops, files }: Sent): Promise<void> {
  for (const { name } of files) expect(await receiptFor(site, name)).toMatchObject({ status: 10 });
  for (const nbr of stops) expect(await getStop(site, nbr)).toMatchObject({ stopStatus: "99" });
  expect(await waitingIn(site)).toEqual([]);
  expect(await site.mustRun("ledger", "verify")).toMatch(/entr/);
  const names = files.map(({ name }) => name);
  const decided = site.daemon.log
    .filter(({ msg, file }) => msg.startsWith("file ") && names.includes(String(file)))
    .map(({ file }) => String(file));
  expect(decided).toHaveLength(files.length);
  for (const nbr of stops) {
    const own = decided.filter((name) => name.startsWith(`${nbr}_`));
    expect(own).toEqual(names.filter((name) => name.startsWith(`${nbr}_`)));
  }
}

describe.runIf(hasPostgres)("a daemon whose database is on PostgreSQL", () => {
  it("takes a stop over SFTP, completes it for a target, shows it, explains it, and proves its ledger", async () => {
    const file = stopFile("P1");
    expect(await send(site, file)).toMatchObject({ status: 10 });
    expect(await getStop(site, "P1")).toMatchObject({ stopNbr: "P1", stopStatus: "10" });
    await importLoads(site, [
      {
        loadHeader: { loadNbr: "L1" },
        stops: [{ stopNbr: "P1" }],
        loadAssignment: { driverUserName: "ann" },
      },
    ]);
    for (const code of ["route.initiated", "route.origin.depart"]) expect(await report(code)).toBe("200");
    expect(await report("stop.dropoff.confirmation", "P1")).toBe("200");
    const [completion = ""] = await waitFor("the completion", async () => {
      const found = await completions();
      return found.length > 0 && found;
    });
    expect(completion).toMatch(/p1/i);

    const browser = await signInToConsole(site, "operator" as "admin");
    for (const path of [
      ...["/console", "/console/files", "/console/deliveries", "/console/hosts", "/console/users"],
      ...[
        "/console/audit",
        "/console/health",
        "/console/files?state=applied",
        "/console/exports",
        "/console/remotes",
      ],
    ]) {
      const page = await browser.get(path);
      expect(page.status, `${path}: ${page.body.slice(0, 500)}`).toBe(200);
      expect(page.body).not.toContain(password);
    }
    expect((await browser.get("/console/files")).body).toContain(file.name);

    expect(await site.mustRun("explain", file.name)).toContain("Applied ");
    expect(await site.mustRun("files")).toContain(file.name);
    expect(await site.mustRun("deliveries")).toContain(completion);
    expect(await site.mustRun("ledger", "verify")).toMatch(/entr/);
    expect(existsSync(join(site.stateDir, "dropgate.db"))).toBe(false);
    expect(await (await http(site, "/metrics")).body).toMatch(/dropgate_database_size_bytes [1-9]\d{6}/);
  });

  it("is checked with its server; a backup is refused, and says what to do", async () => {
    const checked = await site.cli("check");
    expect(checked.output).toMatch(
      /the database has schema \d+, PostgreSQL \d+\.\d+.*UTF8, synchronous_commit=on/,
    );
    expect(checked.exitCode).toBe(0);
    expect(checked.output).toMatch(/PostgreSQL leaves \d+ sessions to this user, and dropgate has up to \d+/);
    expect(checked.output).not.toMatch(/could not be checked|clock of the server|may not make tables|idles/);
    const backup = await site.cli("backup", join(site.folder, "backups"));
    expect(backup).toMatchObject({ exitCode: 2, output: expect.stringContaining("pg_basebackup") });
    expect(checked.output + backup.output).not.toContain(password);
  });

  it("loses, doubles and reorders nothing when the server dies while files come in, and goes on by itself", async () => {
    const sent = await sendBeside("k", () => server.kill());
    const refused = await post(site, "/v5/load/update/default", {
      companyCode: company,
      loads: [{ loadHeader: { loadNbr: "AWAY" } }],
    });
    expect(refused.status, refused.body).toBe(503);
    expect(refused.body).toContain("999");
    expect((await http(site, "/readyz")).body).not.toContain(password);
    server.start();
    await expectInOrder(sent);
    expect((await http(site, `/v5/load/info/AWAY/${company}`)).status).toBe(404);
    expect(await send(site, stopFile("AFTER"))).toMatchObject({ status: 10 });
  });

  it("takes uploads while the server stands still, and goes on when that does", async () => {
    const sent = await sendBeside("f", async () => server.pause());
    expect(await filedIn(site, "archive")).not.toEqual(expect.arrayContaining([sent.files.at(-1)?.name]));
    server.resume();
    await expectInOrder(sent);
  });

  it("starts when the server does, and tells commands that it cannot be reached", async () => {
    await site.stop();
    await server.kill();
    const refused = await site.cli("files");
    expect(refused.exitCode).toBe(1);
    expect(refused.output).toMatch(
      /PostgreSQL cannot be reached \(.*ECONNREFUSED.*\): see that the server that `store` names/,
    );
    // As the service is checked before each start: a start waits.
    const checked = await site.cli("check");
    expect(checked.output).toMatch(/^warning .*PostgreSQL cannot be reached.*a start waits until it can be/m);
    expect(checked.output).not.toMatch(/^problem/m);
    expect(checked.exitCode).toBe(0);
    const upgrade = await site.cli("check", "--upgrade");
    expect([upgrade.exitCode, /^problem .*PostgreSQL cannot be reached/m.test(upgrade.output)]).toEqual([
      2,
      true,
    ]);
    const systemd = await makeToldSystemd(site.folder);
    const starting = site.start({ env: systemd.env });
    const run = site.daemon;
    const { message } = await run.waitForLog(({ msg }) => msg.startsWith("the database cannot be used;"));
    expect(message).toMatch(/cannot be reached/);
    // systemd gives it more time, over and over.
    await waitFor("the word to systemd", async () => (await systemd.told()).length > 0);
    expect(await systemd.told()).toEqual([
      expect.stringMatching(/ EXTEND_TIMEOUT_USEC=120000000 STATUS=waits for the database$/),
    ]);
    server.start();
    await starting;
    await waitFor("readiness", async () => (await systemd.told()).some((line) => line.includes("READY=1")));
    expect(await send(site, stopFile("LATE"))).toMatchObject({ status: 10 });
    expect(run.text + refused.output).not.toContain(password);
    await site.stop();
  });

  it.each([
    [
      "user",
      () => withPassword(server.urlOf("e2e"), "locked"),
      /refuses \(password authentication failed.*correct user and password/,
    ],
    [
      "database",
      () => withPassword(server.urlOf("gone")),
      /refuses \(database \\"gone\\" does not exist\): make it with/,
    ],
    [
      "state",
      () => withPassword(server.urlOf("postgres")),
      /the database that `store` names is empty, although the marker/,
    ],
  ])(
    "does not start with a wrong %s, and says what to do without the password",
    async (_, address, message) => {
      await nameDatabase(site.folder, address());
      const run = new DaemonRun(site.configFile, {});
      expect(await run.exit).toBe(1);
      expect(run.text).toMatch(message);
      expect(run.text).not.toContain(password);
      const checked = await site.cli("check");
      expect(checked.exitCode).toBe(2);
      expect(checked.output).toContain("store");
      expect(checked.output).not.toContain(password);
      await nameDatabase(site.folder, url);
      expect(readFileSync(join(site.folder, "postgres-url"), "utf8")).toContain(password);
    },
  );
});
