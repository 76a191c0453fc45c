/** A damaged database: said at once and loudly, nothing refused for it, and all that is sound goes on. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, type TestContext } from "vitest";
import { http } from "../support/clients.ts";
import { company, DaemonRun, Site } from "../support/daemon.ts";
import { damageTable } from "../support/damage-database.ts";
import { put, receiptFor, send, stopFile } from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";
// Pages of the file of SQLite are overwritten; a server has checksums of its own, and dropgate looks through no server.
import { itOnSqlite as test } from "../support/store-dialect.ts";

let site: Site;

beforeAll(async () => {
  site = await Site.make();
  await site.start();
});
afterAll(() => site.end());

test("a damaged page of stops makes readiness red with the reason; its stop waits, others and their receipts go on", async () => {
  // Enough stops for many pages; those of one page are damaged.
  for (const name of ["D1", "D2"]) expect(await send(site, stopFile(name))).toMatchObject({ status: 10 });
  const many = Array.from({ length: 120 }, (_, index) => stopFile(`PICK${index}`));
  await put(site, ...many);
  for (const { name } of many) await receiptFor(site, name);
  await site.stop();
  const marker = "PICK70";
  const damaged = damageTable(join(site.stateDir, "dropgate.db"), "stops", (page) => page.includes(marker));
  expect(damaged).toBe(1);
  await site.start();

  await put(site, stopFile("PICK70", { time: "090000" }));
  const line = await site.daemon.waitForLog(({ msg }) => msg === "the database is damaged");
  expect(String(line["remedy"])).toContain("restore the database from the last backup");
  const ready = await fetch(`${site.http}/readyz`);
  expect(ready.status).toBe(503);
  const body = (await ready.json()) as { checks: object; messages: string[] };
  expect(body.checks).toMatchObject({ database: false });
  expect(body.messages.join()).toMatch(/the database is damaged .*restore/);
  expect(await send(site, stopFile("NEW1"))).toMatchObject({ status: 10 });
  await waitFor("the file is held", async () => {
    const { messages } = (await (await fetch(`${site.http}/readyz`)).json()) as { messages: string[] };
    return messages.some((message) => message.includes("pick70_20261105_090000.xml"));
  });
  const waiting = await site.json<{ name: string }[]>("files", "--state", "waiting");
  expect(waiting.map(({ name }) => name)).toEqual([stopFile("PICK70", { time: "090000" }).name]);
  expect((await http(site, `/v5/stop/info/PICK70/${company}`)).status).toBe(503);
  expect((await http(site, `/v5/stop/info/NEW1/${company}`)).status).toBe(200);
  expect(await (await fetch(`${site.http}/metrics`)).text()).toContain("dropgate_database_damaged 1");
  const check = await site.cli("check");
  expect([check.exitCode, check.output]).toEqual([2, expect.stringContaining("the database is damaged")]);
  const explained = await site.cli("explain", "PICK70");
  expect(explained.exitCode).toBe(1);
  expect(explained.output).toMatch(/dropgate: .*malformed; stop dropgate, check the disk, and restore/);
  // Once, however often it is met.
  expect(site.daemon.log.filter(({ msg }) => msg === "the database is damaged")).toHaveLength(1);
});

describe("a start with a damaged page", () => {
  async function damaged(table: string, onTestFinished: TestContext["onTestFinished"]): Promise<Site> {
    const other = await Site.make();
    onTestFinished(() => other.end());
    await other.start();
    expect(await send(other, stopFile("S1"))).toMatchObject({ status: 10 });
    await other.stop();
    expect(damageTable(join(other.stateDir, "dropgate.db"), table)).toBeGreaterThan(0);
    return other;
  }

  test.for(["companies", "meta"])(
    "of %s, which every start reads, is refused in one line that names the table and the remedy",
    async (table, { onTestFinished }) => {
      const other = await damaged(table, onTestFinished);
      const run = new DaemonRun(other.configFile, {});
      expect(await run.exit).toBe(1);
      const [line, ...more] = run.log.filter(({ level }) => level === "fatal");
      expect(more).toEqual([]);
      expect(line?.msg).toContain("dropgate cannot start: the database is damaged");
      expect(line?.msg).toContain(`${table}: `);
      expect(line?.msg).toContain("restore the database from the last backup (docs/operations.md");
      expect(run.text).not.toContain("    at ");
    },
  );

  // Side by side: the first look through a database comes some seconds after the start.
  test.concurrent.for(["files", "users"])(
    "of %s starts, and readiness is red and names the table",
    async (table, { expect, onTestFinished }) => {
      const other = await damaged(table, onTestFinished);
      await other.start();
      await waitFor("readiness to name the table", async () => {
        const { messages = [] } = (await (await fetch(`${other.http}/readyz`)).json()) as {
          messages?: string[];
        };
        return messages.some((message) => message.includes(`the database is damaged (${table}: `));
      });
      expect((await fetch(`${other.http}/readyz`)).status).toBe(503);
    },
  );
});
