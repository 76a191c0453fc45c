/** Retention on nodes that share a database and a tree: each removes what is too old of the companies that it has. */
import { describe, expect, it } from "vitest";
import { withPruneLock } from "../../src/app/retention/prune-lock.ts";
import { createRetention, type Retention } from "../../src/app/retention/retention.ts";
import { startAppliedWatch } from "../../src/app/watch/applied-watch.ts";
import { createLocations } from "../../src/inbound/places/locations.ts";
import { dayMs } from "../../src/lib/durations.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { insertAudit } from "../../src/store/accounts/audit.ts";
import type { Store } from "../../src/store/database/database.ts";
import { advanceGeneration, beginGeneration, lookForRestored } from "../../src/store/database/generation.ts";
import { readLastApplied } from "../../src/store/ledger/last-applied.ts";
import { configOfNode, databaseForEachTest, type SharedDatabase } from "../support/lease-nodes.ts";
import { hasPostgres } from "../support/postgres-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/wait-for.ts";

const database = databaseForEachTest(4);
const log = createLogger({ level: "silent" });
const now = Date.UTC(2026, 10, 5);
const going = new AbortController().signal;

interface PruningNode {
  readonly retention: Retention;
  /** Of whom it has written. */
  readonly whose: Set<unknown>;
}

async function startPruning(shared: SharedDatabase, name: string, stateDir: string) {
  const config = await configOfNode({ retention: { audit: 30 } });
  const whose = new Set<unknown>();
  let retention: Retention | undefined;
  const node = await shared.startNode(name, async ({ store, keeper }) => {
    const write: Store["write"] = (owner, work) => {
      whose.add(owner);
      return store.write(owner, work);
    };
    retention = createRetention({
      ...{ store: { ...store, write }, locations: createLocations(stateDir), log, config: () => config },
      ...{ ledgerNumbers: { seal: String }, clock: { now: () => now }, isShared: true },
      isOurs: (companyId) => keeper.fenceOf(companyId) !== undefined,
    });
    return [];
  });
  if (retention === undefined) throw new Error("there is none");
  return { ...node, retention, whose } satisfies PruningNode;
}

describe.runIf(hasPostgres)("retention of nodes that share a database", () => {
  it("removes what is too old of each company once, on the node that has it, at the same time on all", async () => {
    const shared = database();
    const stateDir = temporaryFolder();
    const one = await startPruning(shared, "one", stateDir);
    const two = await startPruning(shared, "two", stateDir);
    await waitFor("both to have some", () => two.keeper.statistics().lanes.working >= 2);
    await shared.store.write("site", async (tx) => {
      for (const companyId of [null, ...shared.companies])
        await insertAudit(tx, { at: now - 40 * dayMs, kind: "signedIn", userName: "anna", companyId });
    });
    const passes = await Promise.all([one, two].map(({ retention }) => retention.prune(now, going)));
    expect(passes).toEqual([true, true]);
    expect(await shared.store.read.selectFrom("audit").select("id").execute()).toEqual([]);
    const counts = [one, two].map(({ retention }) => retention.figures.pruned.get("audit") ?? 0);
    expect(counts.every((count) => count > 0)).toBe(true);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(5);
    for (const companyId of shared.companies)
      expect([one, two].filter(({ whose }) => whose.has(companyId))).toHaveLength(1);
  });

  it("is beside that of other nodes, and beside no command", async () => {
    const stateDir = temporaryFolder();
    const shared = { stateDir, isShared: true };
    const command = () => withPruneLock({ stateDir }, async () => "removed");
    await withPruneLock(shared, async () => {
      expect(await withPruneLock(shared, async () => "removed")).toBe("removed");
      await expect(command()).rejects.toThrow("another process is removing what is too old");
    });
    expect(await command()).toBe("removed");
    const beside = () => withPruneLock({ stateDir }, () => withPruneLock(shared, async () => "removed"));
    await expect(beside()).rejects.toThrow("another process is removing what is too old");
  });
});

describe.runIf(hasPostgres)("notes of nodes that share a database", () => {
  it("keep the last time of each company at which any of them applied a file", async () => {
    const { store, companies } = database();
    const [first = 0, second = 0] = companies;
    const times = [new Map([[first, 10]]), new Map([[second, 20]])];
    const watches = times.map((time) => startAppliedWatch({ store, log, lastAppliedAt: () => time }));
    await Promise.all(watches.map((watch) => watch.stop()));
    expect(await readLastApplied(store.read)).toEqual(
      new Map([
        [first, 10],
        [second, 20],
      ]),
    );
  });

  it("never make the database look as if an older one had been restored", async () => {
    const { store } = database();
    const stateDir = temporaryFolder();
    await beginGeneration(store, stateDir);
    await Promise.all(Array.from({ length: 20 }, () => advanceGeneration(store, stateDir)));
    expect(await lookForRestored(store, stateDir)).toBeUndefined();
  });
});
