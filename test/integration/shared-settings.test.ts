/** Nodes that share a database and have different configurations: the node that has a company has its own in force. */
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { startOutbound } from "../../src/app/daemon/outbound.ts";
import { ReleaseStack } from "../../src/app/daemon/service-group.ts";
import { startSettingsWatch } from "../../src/app/watch/settings-watch.ts";
import { sharedSettingsHash } from "../../src/config/shared-settings.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import type { KnownNode } from "../../src/store/cluster/lease-table.ts";
import { DeliverySite } from "../support/delivery-site.ts";
import { configOfNode, databaseForEachTest, type SharedDatabase } from "../support/lease-nodes.ts";
import { hasPostgres } from "../support/postgres-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/wait-for.ts";

const database = databaseForEachTest(4);
const stopsOfEach = 40;

/** The files of each target of each company, below the folder. */
async function startNode(
  shared: SharedDatabase,
  name: string,
  at: { folder: string; targets: readonly string[] },
) {
  const outboundOf = (code: string) => {
    const paths = at.targets.map((target) => [target, join(at.folder, `${code}-${target}`)] as const);
    for (const [, path] of paths) mkdirSync(path, { recursive: true });
    return { targets: Object.fromEntries(paths.map(([target, path]) => [target, { type: "folder", path }])) };
  };
  const codes = shared.companies.map((_, index) => `C${index}`);
  const companies = Object.fromEntries(codes.map((code) => [code, { outbound: outboundOf(code) }]));
  const config = await configOfNode({ companies });
  const stateDir = temporaryFolder();
  return await shared.startNode(name, async ({ keeper, log }) => {
    const { store } = shared;
    const stack = new ReleaseStack(log);
    onTestFinished(async () => void (await stack.releaseAll(AbortSignal.timeout(10_000))));
    await startOutbound({
      ...{ store, log, stack, stateDir, documentsDir: stateDir, config: () => config },
      ...{ clock: { now: () => Date.now() }, signal: new AbortController().signal },
      cluster: { ownership: keeper, keeper, incarnation: name, changeClock: undefined },
    });
    return [];
  });
}

function isDelivered(name: string): boolean {
  return name.endsWith(".xml") && !name.startsWith(".");
}

/** The targets that are in force, by the node that has their company. */
async function targetsInForce({ store, companies }: SharedDatabase, ownerOf: SharedDatabase["ownerOf"]) {
  const rows = await store.read
    .selectFrom("outbound_targets")
    .select(["company_id", "name"])
    .where("is_configured", "=", 1)
    .orderBy("name")
    .execute();
  return await Promise.all(
    companies.map(async (companyId) => {
      const names = rows.filter((row) => row.company_id === companyId).map((row) => row.name);
      return `${await ownerOf(companyId)}: ${names.join(" ")}`;
    }),
  );
}

describe.runIf(hasPostgres)("nodes with different targets", () => {
  it("have those of the node that has the company in force, and lose no delivery", async () => {
    const shared = database();
    const folder = temporaryFolder();
    const sites = await Promise.all(shared.companies.map((id) => DeliverySite.over(shared.store, id)));
    const one = await startNode(shared, "one", { folder, targets: ["host"] });
    const two = await startNode(shared, "two", { folder, targets: ["host", "other"] });
    await waitFor("both to have some", () => two.keeper.statistics().lanes.working >= 2);
    const inForce = () => targetsInForce(shared, (id) => shared.ownerOf(id));
    const wanted = new Set(["one: host", "two: host other"]);
    await waitFor("each to have its own in force", async () =>
      (await inForce()).every((line) => wanted.has(line)),
    );
    const before = await inForce();
    await pause(3_000);
    expect(await inForce()).toEqual(before);
    const numbers = Array.from({ length: stopsOfEach }, (_, index) => `S${index}`);
    for (const [index, site] of sites.entries())
      await site.complete(...numbers.map((number) => `${index}${number}`));
    await shared.drainOnce(one);
    await shared.drainOnce(two);
    const delivered = () =>
      shared.companies.flatMap((_, index) => readdirSync(join(folder, `C${index}-host`)).filter(isDelivered));
    await waitFor("all to be delivered", () => delivered().length >= 4 * stopsOfEach);
    expect(new Set(delivered()).size).toBe(4 * stopsOfEach);
  });
});

describe("the settings that nodes have in common", () => {
  it("are the same whatever a machine has otherwise", async () => {
    const config = await configOfNode({});
    const onAnother = {
      ...config,
      stateDir: "/elsewhere",
      log: { level: "debug" as const },
      sftp: { ...config.sftp, port: 2_022 },
      cluster: { ...config.cluster, node: "another" },
    };
    expect(sharedSettingsHash(onAnother)).toBe(sharedSettingsHash(config));
    const others = [
      { ...config, alerts: { ...config.alerts, keepDays: config.alerts.keepDays + 1 } },
      { ...config, sftp: { ...config.sftp, maxUploadBytes: config.sftp.maxUploadBytes - 1 } },
      { ...config, console: { ...config.console, operators: ["anna@ACME"] } },
      { ...config, http: { ...config.http, maxLoads: config.http.maxLoads + 1 } },
    ];
    expect(new Set([config, ...others].map(sharedSettingsHash)).size).toBe(others.length + 1);
  });

  it("are compared, and nodes that differ are named once", async () => {
    const lines: { readonly msg: string; readonly nodes?: readonly string[] }[] = [];
    const log = createLogger({
      level: "info",
      destination: { write: (line) => lines.push(JSON.parse(line)) },
    });
    const node = (name: string, settings: string): KnownNode => ({
      ...{
        name,
        settings,
        incarnation: name,
        version: "1",
        schema: 23,
        address: {},
        startedAt: 1,
        seenAt: 1,
      },
      ...{ isDraining: false, isStopped: false, silentMs: 10, lanes: 1 },
    });
    let nodes = [node("one", "a"), node("two", "b"), { ...node("three", "c"), isStopped: true }];
    const watch = startSettingsWatch({
      table: { nodes: async () => nodes },
      node: "one",
      leaseMs: 1_000,
      log,
    });
    onTestFinished(() => watch.stop());
    await watch.run();
    await watch.run();
    nodes = [node("one", "a"), node("two", "a")];
    await watch.run();
    expect(lines.map(({ msg, nodes: named }) => [msg.slice(0, 19), named])).toEqual([
      ["other nodes have ot", ["two"]],
      ["all nodes have the ", undefined],
    ]);
  });
});
