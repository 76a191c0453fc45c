/** The daily verification of the ledger on nodes that share a database and a tree: one of them does it for all. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { buildParts, type Parts } from "../../src/app/daemon/daemon-parts.ts";
import { siteLane } from "../../src/app/daemon/own-work.ts";
import { ReleaseStack } from "../../src/app/daemon/service-group.ts";
import { startDeliveryHoldWatch } from "../../src/app/watch/delivery-hold-watch.ts";
import { Integrations } from "../../src/integrations/integrations.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { hourMs } from "../../src/lib/durations.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { RecentTroubles } from "../../src/lib/logs/recent-troubles.ts";
import { openStore } from "../../src/store/database/database.ts";
import { findLastVerification } from "../../src/store/database/last-verification.ts";
import { ledgerNumbers } from "../support/ledger-numbers.ts";
import { configOfNode, databaseForEachTest, type SharedDatabase } from "../support/lease-nodes.ts";
import { hasPostgres } from "../support/postgres-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/wait-for.ts";

const database = databaseForEachTest(0);
const signal = new AbortController().signal;

interface VerifyingNode {
  readonly hasSite: () => boolean;
  /** As if the daemon had run for an hour, after which it verifies for the first time. */
  readonly passHour: () => void;
}

/** What is to run an hour after it was built. */
async function hourlyOf(build: () => Promise<Parts>) {
  const timers = vi.spyOn(globalThis, "setTimeout");
  try {
    const parts = await build();
    const due = timers.mock.calls.filter(([, ms]) => ms === hourMs).map(([run]) => run as () => void);
    return { parts, due };
  } finally {
    timers.mockRestore();
  }
}

/** The parts of a daemon, of which the leases are started. */
async function startNode(
  shared: SharedDatabase,
  name: string,
  { stateDir, verified }: { readonly stateDir: string; readonly verified: string[] },
): Promise<VerifyingNode> {
  const nodeDir = temporaryFolder();
  const urlFile = join(nodeDir, "postgres-url");
  writeFileSync(urlFile, shared.url);
  const { leaseMs } = shared;
  const config = await configOfNode({
    stateDir,
    store: `file:${urlFile}`,
    cluster: { node: name, nodeDir, leaseMs },
  });
  const write = (line: string) => {
    if (line.includes("the ledger was verified")) verified.push(name);
  };
  const log = createLogger({ level: "info", destination: { write } });
  const stack = new ReleaseStack(log);
  onTestFinished(async () => void (await stack.releaseAll(AbortSignal.timeout(10_000))));
  const store = await openStore(stateDir, { url: shared.url, node: { name, leaseMs } });
  stack.push({ name: "store", release: () => store.close() });
  const holdWatch = await startDeliveryHoldWatch({ store, log });
  stack.push({ name: "hold of deliveries", release: () => holdWatch.stop() });
  const { parts, due } = await hourlyOf(() =>
    buildParts(config, store, {
      ...{ log, stack, signal, ledgerNumbers, holdWatch, clock: systemClock, configFile: "" },
      ...{ integrations: new Integrations({ integrations: new Map(), log }), troubles: new RecentTroubles() },
    }),
  );
  expect(due).toHaveLength(1);
  const { keeper, ownership } = parts.cluster;
  if (keeper === undefined) throw new Error("this database has no leases");
  await keeper.start(AbortSignal.timeout(60_000));
  stack.push({ name: "leases", release: (deadline) => keeper.stop(deadline) });
  return {
    hasSite: () => ownership.fenceOf(siteLane) !== undefined,
    passHour() {
      for (const run of due) run();
    },
  };
}

describe.runIf(hasPostgres)("the verification of the ledger of nodes that share a database", () => {
  it("is done by the node that has what concerns no company, by no other, and by the next one after it", async () => {
    const shared = database();
    const verified: string[] = [];
    const site = { stateDir: temporaryFolder(), verified };
    const one = await startNode(shared, "one", site);
    const two = await startNode(shared, "two", site);
    expect([one.hasSite(), two.hasSite()]).toEqual([true, false]);
    // In this order: one that should not, would be done first.
    for (const node of [two, one]) node.passHour();
    await waitFor("the first to have verified", () => verified.includes("one"));
    const noted = () => findLastVerification(shared.store.read);
    await waitFor("it to be noted", async () => (await noted())?.discrepancies === 0);
    await shared.store.leases?.order("one", true);
    await waitFor("the other to have the site", () => two.hasSite());
    expect(verified).toEqual(["one"]);
    for (const node of [one, two]) node.passHour();
    await waitFor("the other to have verified", () => verified.includes("two"));
    expect(verified).toEqual(["one", "two"]);
  });
});
