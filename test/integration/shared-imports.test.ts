/** Load imports on nodes that share a database: each company's loads are applied by the node that has it. */
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createLoadImporter } from "../../src/operations/imports/load-importer.ts";
import { insertImport, insertImportItem } from "../../src/store/stops/imports.ts";
import { databaseForEachTest, type SharedDatabase } from "../support/lease-nodes.ts";
import { hasPostgres } from "../support/postgres-server.ts";
import { waitFor } from "../support/wait-for.ts";

const database = databaseForEachTest(3);
const importsOfEach = 60;
const loadsOfEach = 3;

/** One clock for all nodes, which never shows the same twice: so the rows tell the order of the decisions. */
let ticks = 1_000;
const clock = { now: () => ticks++ };

async function accept({ store }: SharedDatabase, companyId: number, number: number): Promise<void> {
  const entry = { guid: `${companyId}-${number}`, companyId, serviceName: "default", userName: "host" };
  await store.write(companyId, async (tx) => {
    const importId = await insertImport(tx, { ...entry, receivedAt: 1 });
    for (let position = 0; position < loadsOfEach; position += 1) {
      // All have one number: their order is absolute.
      const body = JSON.stringify({ loadHeader: { loadNbr: "L1", description: `${number}.${position}` } });
      await insertImportItem(tx, { importId, position, loadNbr: "L1", body });
    }
  });
}

async function startImporting(shared: SharedDatabase, name: string) {
  return await shared.startNode(name, async ({ store, keeper, log }) => {
    const importer = createLoadImporter({ store, log, clock, ownership: keeper });
    await importer.start(new AbortController().signal);
    return [importer];
  });
}

async function itemsOf({ store }: SharedDatabase) {
  return await store.read
    .selectFrom("import_items as i")
    .innerJoin("imports", "imports.id", "i.import_id")
    .select(["imports.company_id", "i.import_id", "i.position", "i.state", "i.decided_at"])
    .orderBy("imports.company_id")
    .orderBy("i.import_id")
    .orderBy("i.position")
    .execute();
}

describe.runIf(hasPostgres)("imports of nodes that share a database", () => {
  it("are applied once and in their order, while they come in on any node and companies are given from node to node", async () => {
    const shared = database();
    const one = await startImporting(shared, "one");
    const two = await startImporting(shared, "two");
    const accepting = (async () => {
      for (let number = 0; number < importsOfEach; number += 1) {
        await Promise.all(shared.companies.map((companyId) => accept(shared, companyId, number)));
        await pause(50);
      }
    })();
    await shared.drainOnce(one);
    await shared.drainOnce(two);
    await accepting;
    await waitFor("all to be decided", async () =>
      (await itemsOf(shared)).every(({ state }) => state !== "waiting"),
    );
    const items = await itemsOf(shared);
    expect(items).toHaveLength(3 * importsOfEach * loadsOfEach);
    expect(new Set(items.map(({ state }) => state))).toEqual(new Set(["applied"]));
    for (const companyId of shared.companies) {
      const decidedAt = items.filter((item) => item.company_id === companyId).map((item) => item.decided_at);
      expect(decidedAt).toEqual(decidedAt.toSorted((a, b) => Number(a) - Number(b)));
    }
    expect([...one.complaints, ...two.complaints]).toEqual([]);
  });

  it("go on when a node has lost companies unawares", async () => {
    const shared = database();
    const nodes = [await startImporting(shared, "one"), await startImporting(shared, "two")];
    const [companyId = 0] = shared.companies;
    for (let number = 0; number < importsOfEach; number += 1) {
      if (number % 20 === 5)
        await shared.rob(companyId, (await shared.ownerOf(companyId)) === "one" ? "two" : "one");
      await accept(shared, companyId, number);
      await pause(20);
    }
    await waitFor("all to be decided", async () =>
      (await itemsOf(shared)).every(({ state }) => state !== "waiting"),
    );
    const decidedAt = (await itemsOf(shared)).map((item) => item.decided_at);
    expect(nodes.flatMap(({ complaints }) => complaints)).toEqual([]);
    expect(decidedAt).toEqual(decidedAt.toSorted((a, b) => Number(a) - Number(b)));
  });
});
