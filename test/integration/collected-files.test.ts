/** What hosts fetch from their outbound/, and what they leave there too long (specification/outbound.md#picked-up). */
import { lookAtUncollected } from "../../src/app/console/acts/uncollected.ts";
import { consoleUser } from "../../src/endpoints/http/console/testing/viewer.ts";
import { readDeliveryPage } from "../../src/store/outbound/delivery-pages.ts";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { CollectionWatch } from "../../src/app/watch/collection-watch.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import type { Config } from "../../src/config/schema.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { DeliverySite, type LogLine, start } from "../support/delivery-site.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { hourMs } from "../../src/lib/durations.ts";

const first = "s1_20261105_080000.xml";
const second = "s2_20261105_080000.xml";

let site: DeliverySite;
let watch: CollectionWatch;
let folder = "";
let lines: LogLine[] = [];
/** Whether the node of the watch has the company. */
let isOurs = true;

const onDisk = (path: string) => join(folder, path);

async function configured(stateDir: string): Promise<Config> {
  const path = join(stateDir, "dropgate.yaml");
  writeFileSync(path, "stateDir: .\ncompanies: {ACME: {outbound: {collectWithinHours: 2}}}");
  const loaded = await loadConfig({ path, env: {}, cwd: stateDir });
  if (loaded.kind === "faulty") throw new Error("the configuration of the test is faulty");
  return loaded.config;
}

/** Two stops are completed, and their files lie in the company's own folder. */
beforeEach(async () => {
  site = await DeliverySite.open({ targets: [{ name: "outbound", takesCompletions: true }] });
  const stateDir = temporaryFolder();
  folder = join(stateDir, "companies", "ACME", "outbound");
  mkdirSync(folder, { recursive: true });
  lines = [];
  isOurs = true;
  const config = await configured(stateDir);
  watch = new CollectionWatch({
    store: site.store,
    clock: { now: () => site.now },
    log: createLogger({
      level: "info",
      destination: { write: (line: string) => lines.push(JSON.parse(line) as LogLine) },
    }),
    config: () => config,
    isOurs: () => isOurs,
    companyCodeOf: async () => "ACME",
  });
  onTestFinished(() => watch.stop());
  await site.complete("S1", "S2");
  for (const name of [first, second]) writeFileSync(onDisk(name), "x");
});

async function deliverBoth(): Promise<void> {
  await site.startQueue();
  await site.pass(0);
}

const address = "192.0.2.7";
const record = (kind: "downloaded" | "moved" | "deleted", path: string) =>
  watch.record({ kind, companyId: site.companyId, path: onDisk(path), userName: "host", address });

describe("what a host fetches", () => {
  test("is noted with its delivery, the first time that it is: downloads, moves and deletions", async () => {
    await deliverBoth();
    site.now += hourMs;
    await record("downloaded", first);
    site.now += hourMs;
    await record("downloaded", first);
    await record("moved", second);
    await record("deleted", `done/${second}`);
    expect(await site.rows()).toMatchObject([
      { collected_at: start + hourMs, collected_by: "host", collected_from: address, removed_at: null },
      {
        ...{ collected_at: start + 2 * hourMs, removed_at: start + 2 * hourMs },
        ...{ removed_by: "host", removed_from: address },
      },
    ]);
  });

  test("before it is recorded that it was delivered, is noted all the same", async () => {
    await record("downloaded", first);
    await record("deleted", first);
    await deliverBoth();
    const [row] = await site.rows();
    expect(row).toMatchObject({ state: "delivered", collected_by: "host", removed_by: "host" });
  });

  test("of an export of single files counts by its manifest", async () => {
    await site.store.write("site", (tx) =>
      tx.updateTable("deliveries").set({ kind: "export", name: "nightly-1" }).where("id", "=", 1).execute(),
    );
    await record("downloaded", `nightly-1/${second}`);
    expect((await site.rows()).map((row) => row.collected_by)).toEqual([null, null]);
    await record("downloaded", "nightly-1/manifest.xml");
    expect((await site.rows()).map((row) => row.collected_by)).toEqual(["host", null]);
  });
});

/** The names that the console lists behind the number of files that were not fetched. */
async function listedAsUncollected(): Promise<readonly string[]> {
  const context = { collectionWatch: watch };
  const user = consoleUser({ companies: [{ id: site.companyId, code: "ACME", roles: ["DI_Inquiry"] }] });
  const { ids: uncollected } = await lookAtUncollected(context, user);
  const asked = { limit: 10, hasTime: () => true };
  const selection = { companyIds: [site.companyId], uncollected };
  const { entries: found } = await readDeliveryPage(site.store.read, selection, asked);
  const stranger = consoleUser({ companies: [{ id: 99, code: "OTHER", roles: ["MemberAdmin"] }] });
  expect(await lookAtUncollected(context, stranger)).toEqual({ ids: [] });
  return found.map(({ name }) => name);
}

describe("what a host leaves", () => {
  const told = () => lines.filter(({ level }) => level === "warn");

  test("is told of when it has lain there longer than it may, and no more once it was fetched", async () => {
    await deliverBoth();
    site.now += 2 * hourMs;
    await watch.scan();
    expect([watch.uncollected().get("ACME"), told()]).toEqual([0, []]);
    site.now += 1;
    await watch.scan();
    expect(watch.uncollected().get("ACME")).toBe(2);
    expect(await listedAsUncollected()).toEqual([second, first]);
    expect(told()).toMatchObject([{ company: "ACME", files: 2, hours: 2, oldest: first }]);
    await record("downloaded", first);
    // Before the next scan as well.
    expect(await listedAsUncollected()).toEqual([second]);
    await record("deleted", second);
    await watch.scan();
    expect(watch.uncollected().get("ACME")).toBe(0);
    expect(told()).toHaveLength(1);
  });

  test("is told by the node that has the company, and by no other one", async () => {
    await deliverBoth();
    site.now += 3 * hourMs;
    isOurs = false;
    await watch.scan();
    expect([watch.uncollectedOf("ACME")?.count ?? 0, told()]).toEqual([0, []]);
    isOurs = true;
    await watch.scan();
    expect([watch.uncollectedOf("ACME")?.count, told()]).toMatchObject([2, [{ company: "ACME" }]]);
  });

  test("stays known while the folder cannot be read, until a scan succeeds again", async () => {
    await deliverBoth();
    site.now += 3 * hourMs;
    await watch.scan();
    const known = watch.uncollectedOf("ACME");
    rmSync(folder, { recursive: true });
    symlinkSync(folder, folder);
    await watch.scan();
    expect(lines.at(-1)).toMatchObject({ level: "error" });
    expect([known?.count, watch.uncollectedOf("ACME")]).toEqual([2, known]);
    rmSync(folder);
    await watch.scan();
    expect(watch.uncollectedOf("ACME")?.count).toBe(0);
  });

  test("and somebody on this machine has taken is noted as removed by nobody that is known", async () => {
    await deliverBoth();
    rmSync(onDisk(first));
    site.now += 3 * hourMs;
    await watch.scan();
    expect(watch.uncollected().get("ACME")).toBe(1);
    expect((await site.rows())[0]).toMatchObject({
      collected_at: null,
      removed_at: site.now,
      ...{ removed_by: null, removed_from: null },
    });
  });
});
