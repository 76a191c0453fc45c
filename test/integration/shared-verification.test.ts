/** The daily verification of the ledger on nodes that share a database and a tree: one of them does it for all. */
import { describe, expect, it, vi } from "vitest";
import type { Parts } from "../../src/app/daemon/daemon-parts.ts";
import { siteLane } from "../../src/app/daemon/own-work.ts";
import { hourMs } from "../../src/lib/durations.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { findLastVerification } from "../../src/store/database/last-verification.ts";
import { buildNode } from "../support/built-node.ts";
import { databaseForEachTest, type SharedDatabase } from "../support/lease-nodes.ts";
import { hasPostgres } from "../support/postgres-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/wait-for.ts";

const database = databaseForEachTest(0);

interface VerifyingNode {
  readonly hasSite: () => boolean;
  /** As if the daemon had run for an hour, after which it verifies for the first time. */
  readonly passHour: () => void;
}

/** A node, of which what is to run an hour after it was built runs when it is told to. */
async function startNode(
  shared: SharedDatabase,
  name: string,
  { stateDir, verified }: { readonly stateDir: string; readonly verified: string[] },
): Promise<VerifyingNode> {
  const write = (line: string) => {
    if (line.includes("the ledger was verified")) verified.push(name);
  };
  const log = createLogger({ level: "info", destination: { write } });
  let due: (() => void)[] = [];
  const building = async (build: () => Promise<Parts>) => {
    const timers = vi.spyOn(globalThis, "setTimeout");
    try {
      const parts = await build();
      due = timers.mock.calls.filter(([, ms]) => ms === hourMs).map(([run]) => run as () => void);
      return parts;
    } finally {
      timers.mockRestore();
    }
  };
  const { ownership } = (await buildNode(shared, { name, stateDir, log, building })).cluster;
  expect(due).toHaveLength(1);
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
