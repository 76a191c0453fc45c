import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/temporary-folder.ts";
import { createLogger } from "../../../lib/logs/log.ts";
import { type NodeStanding, NodeStandings, type NodeStandingsDeps } from "./node-standings.ts";

interface Known {
  readonly waiting?: readonly { companyId: number; count: number; oldestAgeMs: number }[];
  readonly held?: readonly { company: string; halt?: { message: string } }[];
  readonly uncollected?: readonly [string, number][];
}

const company = { id: 7, code: "ACME" };
const expected = { atLeast: 2, channel: "sftp" };
const window = { beginsAt: 10, dueAt: 20, count: 1 };
const live = new Map([
  ["one", { incarnation: "one-2" }],
  ["two", { incarnation: "two-2" }],
]);

/** A node that knows this of its companies, at the moment 1,000. */
function nodeThat(stateDir: string, name: string, incarnation: string | undefined, known: Known) {
  const shownDir = join(stateDir, "nodes", name);
  mkdirSync(shownDir, { recursive: true });
  const { waiting = [], held = [], uncollected = [] } = known;
  const sources = {
    pipeline: { statistics: () => ({ waiting }), held: () => held },
    arrivalWatch: { late: () => (name === "one" ? [{ company, name: "morning", expected, window }] : []) },
    collectionWatch: { uncollected: () => new Map(uncollected) },
    clock: { now: () => 1_000 },
  };
  const log = createLogger({ level: "silent" });
  const deps = { ...sources, liveNodes: async () => live, stateDir, shownDir, incarnation, log };
  const node = new NodeStandings(deps as unknown as NodeStandingsDeps);
  onTestFinished(() => node.stop());
  return node;
}

const busy: Known = {
  waiting: [
    { companyId: 7, count: 3, oldestAgeMs: 400 },
    { companyId: 8, count: 0, oldestAgeMs: 0 },
  ],
  held: [{ company: "ACME", halt: { message: "the disk is full" } }, { company: "FINE" }],
  uncollected: [["ACME", 4]],
};
const told: NodeStanding = {
  waiting: [{ companyId: 7, count: 3, since: 600 }],
  halts: { ACME: "the disk is full" },
  late: [
    {
      companyId: 7,
      name: "morning",
      beginsAt: 10,
      dueAt: 20,
      arrived: 1,
      atLeast: 2,
      files: { channel: "sftp" },
    },
  ],
  uncollected: { ACME: 4 },
};
const nothing: NodeStanding = { waiting: [], halts: {}, late: [], uncollected: {} };

test("each node tells how companies stand at the others, its own word last", async () => {
  const stateDir = temporaryFolder();
  const [one, two] = [nodeThat(stateDir, "one", "one-2", busy), nodeThat(stateDir, "two", "two-2", {})];
  await one.look();
  await two.look();
  expect(two.all()).toEqual([told, nothing]);
  expect(two.waitingElsewhere(7)).toBe(3);
  expect(two.waitingElsewhere(8)).toBe(0);
  await one.look();
  expect(one.all()).toEqual([nothing, told]);
  expect(one.waitingElsewhere(7)).toBe(0);
});

test("what an earlier process of a node has left is told no more, and a node that stops leaves nothing", async () => {
  const stateDir = temporaryFolder();
  const [former, two] = [nodeThat(stateDir, "one", "one-1", busy), nodeThat(stateDir, "two", "two-2", {})];
  await former.look();
  await two.look();
  expect(two.all()).toEqual([nothing]);
  expect(two.waitingElsewhere(7)).toBe(0);
  await former.stop();
  expect(existsSync(join(stateDir, "nodes", "one", "dropgate.standing.json"))).toBe(false);
});

test("one process knows it all by itself, and shows nobody anything", async () => {
  const stateDir = temporaryFolder();
  const alone = nodeThat(stateDir, "one", undefined, busy);
  expect(alone.all()).toEqual([told]);
  await alone.stop();
  expect(existsSync(join(stateDir, "nodes", "one", "dropgate.standing.json"))).toBe(false);
});
