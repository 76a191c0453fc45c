/** Deliveries and exports of nodes that share a database: each company's are those of the node that has it. */
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { DeliveryOutcome, Target } from "../../src/outbound/target.ts";
import { DeliveryQueue } from "../../src/outbound/delivery-queue.ts";
import { createExportScheduler } from "../../src/outbound/export-scheduler.ts";
import { hourMs } from "../../src/lib/durations.ts";
import { DeliverySite, renderPlainly } from "../support/delivery-site.ts";
import { databaseForEachTest, type LeaseNode, type SharedDatabase } from "../support/lease-nodes.ts";
import { hasPostgres } from "../support/postgres-server.ts";
import { waitFor } from "../support/wait-for.ts";

const database = databaseForEachTest(4);
const stopsOfEach = 125;

/** What a receiver got of one delivery. */
interface Received {
  readonly texts: string[];
  readonly by: string[];
}

/** The receiver of all companies, which takes a moment for each delivery. */
class Receiver {
  readonly received = new Map<string, Received>();

  targetOf(node: string): Target {
    return {
      concurrency: 1,
      deliver: async ({ id, files: [file] }, signal): Promise<DeliveryOutcome> => {
        const text = Buffer.from((await file?.read()) ?? []).toString();
        await pause(20 + Math.random() * 40, undefined, { signal });
        const known = this.received.get(id) ?? { texts: [], by: [] };
        known.texts.push(text);
        known.by.push(node);
        this.received.set(id, known);
        return { kind: "delivered" };
      },
      probe: async () => ({ kind: "delivered" }),
      close: async () => undefined,
    };
  }
}

async function sitesOf({ store, companies }: SharedDatabase): Promise<readonly DeliverySite[]> {
  return await Promise.all(companies.map((companyId) => DeliverySite.over(store, companyId)));
}

async function startDelivering(shared: SharedDatabase, name: string, receiver: Receiver): Promise<LeaseNode> {
  const inUse = { target: receiver.targetOf(name), timeoutMs: 60_000 };
  return await shared.startNode(name, async ({ store, keeper, log }) => {
    const queue = new DeliveryQueue({
      ...{ store, log, ownership: keeper, clock: { now: () => Date.now() }, random: Math.random },
      ...{ targets: () => inUse, render: renderPlainly },
    });
    await queue.start(new AbortController().signal);
    return [queue];
  });
}

async function complete(sites: readonly DeliverySite[]): Promise<void> {
  const numbers = Array.from({ length: stopsOfEach }, (_, index) => `S${index}`);
  await Promise.all(sites.map((site) => site.complete(...numbers)));
}

async function areAllDelivered({ store }: SharedDatabase): Promise<boolean> {
  const rows = await store.read
    .selectFrom("deliveries")
    .select("id")
    .where("state", "<>", "delivered")
    .limit(1)
    .execute();
  return rows.length === 0;
}

describe.runIf(hasPostgres)("deliveries of nodes that share a database", () => {
  it("go out once, also while companies are given from node to node", async () => {
    const shared = database();
    const receiver = new Receiver();
    const sites = await sitesOf(shared);
    await complete(sites);
    const one = await startDelivering(shared, "one", receiver);
    const two = await startDelivering(shared, "two", receiver);
    await shared.drainOnce(one);
    await shared.drainOnce(two);
    await waitFor("all to be delivered", () => areAllDelivered(shared));
    expect(receiver.received.size).toBe(4 * stopsOfEach);
    expect([...receiver.received.values()].filter(({ by }) => by.length !== 1)).toEqual([]);
    expect(new Set([...receiver.received.values()].flatMap(({ by }) => by))).toEqual(new Set(["one", "two"]));
    expect([...one.complaints, ...two.complaints]).toEqual([]);
  });

  it("are all made when a node loses companies unawares; what goes again is the same, and its faults are nobody's", async () => {
    const shared = database();
    const receiver = new Receiver();
    const sites = await sitesOf(shared);
    await complete(sites);
    const nodes = [
      await startDelivering(shared, "one", receiver),
      await startDelivering(shared, "two", receiver),
    ];
    for (let round = 0; round < 6; round += 1) {
      const companyId = shared.companies[round % 4] ?? 0;
      await shared.rob(companyId, (await shared.ownerOf(companyId)) === "one" ? "two" : "one");
      await pause(500);
    }
    await waitFor("all to be delivered", () => areAllDelivered(shared));
    expect(receiver.received.size).toBe(4 * stopsOfEach);
    for (const { texts } of receiver.received.values()) expect(new Set(texts).size).toBe(1);
    const targets = await shared.store.read.selectFrom("outbound_targets").selectAll().execute();
    expect(targets.map((row) => [row.open_count, row.dead_count, row.failures])).toEqual(
      sites.map(() => [0, 0, 0]),
    );
    expect(nodes.flatMap(({ complaints }) => complaints)).toEqual([]);
  });
});

describe.runIf(hasPostgres)("exports of nodes that share a database", () => {
  it("are made once, by the node that has the company", async () => {
    const shared = database();
    const sites = await sitesOf(shared);
    await Promise.all(sites.map((site) => site.complete("S1", "S2")));
    const clock = { current: Date.now() };
    const plans = shared.companies.map((companyId) => ({
      ...({ companyId, name: "hourly", form: "document", target: "host" } as const),
      when: { schedule: "0 * * * *", zone: "Etc/UTC" },
    }));
    const looks: (() => Promise<void>)[] = [];
    const startExporting = (name: string) =>
      shared.startNode(name, async ({ store, keeper, log }) => {
        const scheduler = createExportScheduler({
          ...{ store, log, ownership: keeper, clock: { now: () => clock.current } },
          ...{ plans: async () => plans, trigger: () => ({ stop: () => undefined }) },
        });
        await scheduler.start(new AbortController().signal);
        looks.push(() => scheduler.look());
        return [scheduler];
      });
    const one = await startExporting("one");
    const two = await startExporting("two");
    await waitFor("both to have some", () => two.keeper.statistics().lanes.working >= 2);
    await Promise.all(looks.map((look) => look()));
    clock.current += hourMs;
    await Promise.all(looks.map((look) => look()));
    await shared.drainOnce(one);
    await Promise.all(looks.map((look) => look()));
    const made = await shared.store.read.selectFrom("exports").selectAll().orderBy("company_id").execute();
    expect(made.map((row) => [row.company_id, row.sequence_nbr])).toEqual(
      shared.companies.map((companyId) => [companyId, 1]),
    );
    expect([...one.complaints, ...two.complaints]).toEqual([]);
  });
});
