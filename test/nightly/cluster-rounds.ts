/**
 * Several daemons, one PostgreSQL with a standby, one tree, HAProxy before them, and hosts that send without a pause: in each
 * round something befalls them, and everything that was answered must be there, once, in order, and in time.
 *
 *   node test/nightly/cluster-rounds.ts --nodes 4 --rounds 200 [--seed N] [--only kill,freeze] [--lease MS] [--companies N]
 *     [--mounts /mnt/1,/mnt/2,/mnt/3,/mnt/4,/mnt/outside]
 *
 * Before the rounds it is found out how often hosts may send, so that the machine bears the load when nothing befalls the nodes.
 *
 * `--mounts` has the tree on shared storage that is mounted there, for each node by itself and last for looks from outside; no
 * node is cut off from it then.
 *
 * After `npm run build`, as root (for trees that can be frozen); ends with 1 when something is not so, or when trees cannot be
 * frozen and no `--only` says what to do without them.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { makeAuthority } from "../support/certificates.ts";
import { checkExports, graceMs, untilSettled } from "../support/cluster-checks.ts";
import { type Fault, faults } from "../support/cluster-faults.ts";
import { canFreezeTrees } from "../support/cluster-node.ts";
import { DeletedReceipts } from "../support/cluster-receipts.ts";
import { companySection, type RoundOutcome, runRound } from "../support/cluster-round.ts";
import { ClusterSite } from "../support/cluster-site.ts";
import { randomOf } from "../support/random-numbers.ts";
import { startReceiver } from "../support/receiver.ts";
import { RoundTotals } from "./cluster/round-totals.ts";

const { values } = parseArgs({
  options: {
    nodes: { type: "string", default: "4" },
    rounds: { type: "string", default: "200" },
    companies: { type: "string", default: "8" },
    lease: { type: "string", default: "3000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    only: { type: "string" },
    mounts: { type: "string" },
    stops: { type: "string", default: "3" },
    // With more, ten processes on two processors are late by themselves. On a slower machine the rounds take a longer one.
    pace: { type: "string", default: "3600" },
  },
});
const [rounds, seed] = [Number(values.rounds), Number(values.seed)];
const leaseMs = Number(values.lease);
const only = values.only?.split(",");
/** The ledger grows: to prove all of it takes longer each time. */
const verifyEvery = 10;
/** In all others the companies are shared out before: else one node may have all, and nothing befalls it. */
const unsharedEvery = 3;
/** It takes some seconds. */
const deleteEvery = 4;
/** By which the pause between two files of a host grows on a machine that does not bear it, and how often as long it is at most. */
const [slower, slowestTimes] = [1.5, 4];

interface Surroundings {
  readonly site: ClusterSite;
  readonly deleted: DeletedReceipts;
  readonly paceMs: number;
}

const folder = await mkdtemp(join(tmpdir(), "dropgate-receiver-"));
const authority = await makeAuthority(folder);
const receiver = await startReceiver({ certificate: await authority.issue("receiver") });

/** Draws each kind as often as the others. */
function* drawFaults(possible: readonly Fault[], random: () => number): Generator<Fault> {
  for (;;) {
    const left = [...possible];
    while (left.length > 0) yield* left.splice(Math.floor(random() * left.length), 1);
  }
}

async function makeSite(): Promise<ClusterSite> {
  const site = await ClusterSite.make({
    ...{ nodes: Number(values.nodes), companies: Number(values.companies), leaseMs },
    ...{ hasStandby: true, hasTrees: values.mounts === undefined, mounts: values.mounts?.split(",") },
    settings: { inbound: { parserThreads: 1, scanMs: 2_000 } },
    company: companySection(receiver, authority.caFile),
  });
  await site.startAll();
  return site;
}

/** Nothing befalls them. */
const nothing: Fault = {
  kind: "nothing",
  isPossible: () => true,
  strike: async ({ site }) => {
    await pause(2 * site.leaseMs);
    return "warm-up";
  },
};

async function runOne(
  { site, deleted, paceMs }: Surroundings,
  index: number,
  fault: Fault,
): Promise<RoundOutcome> {
  const outcome = await runRound(site, {
    ...{ prefix: index > 0 ? `R${index}` : `W${-index}`, fault, random: randomOf(seed + index), receiver },
    ...{ stopsOfCompany: Number(values.stops), paceMs, deleted, deletes: index % deleteEvery === 0 },
    isShared: index % unsharedEvery !== 0,
  });
  if (index % verifyEvery === 0) outcome.verdict.problems.push(...(await site.verifyLedger()));
  return outcome;
}

/**
 * Until all is decided within half of the time that files have besides the lease, when nothing befalls the nodes: what a fault
 * costs is to have the other half. At first code runs for the first time, on all nodes at once; then hosts send less often.
 * What is late in these rounds is no problem: it is what they find out. Gives the pace, milliseconds.
 */
async function warmUp(totals: RoundTotals, site: ClusterSite, deleted: DeletedReceipts): Promise<number> {
  const askedMs = Number(values.pace);
  let paceMs = askedMs;
  for (let index = 0; ; index -= 1) {
    let gapMs = Number.POSITIVE_INFINITY;
    await totals.take(index, nothing.kind, async () => {
      const { verdict, words, ...rest } = await runOne({ site, deleted, paceMs }, index, nothing);
      gapMs = verdict.longestGapMs;
      const problems = verdict.problems.filter((problem) => !problem.startsWith("late: "));
      const told = `${words} at a pace of ${paceMs} ms, decided within ${gapMs} ms`;
      return { ...rest, words: told, verdict: { ...verdict, problems, longestGapMs: 0 } };
    });
    if (gapMs <= graceMs / 2 || totals.isBroken) return paceMs;
    const nextMs = index < 0 ? Math.round(paceMs * slower) : paceMs;
    if (nextMs > slowestTimes * askedMs) {
      totals.note([`the nodes are late though nothing befalls them, at a pace of ${paceMs} ms too`]);
      return paceMs;
    }
    paceMs = nextMs;
  }
}

/** All that has completed is exported at last. */
async function checkAllExports(site: ClusterSite): Promise<readonly string[]> {
  const [node] = site.running;
  const made = await node?.command("export");
  if (made?.exitCode !== 0) return [`dropgate export ended with ${made?.exitCode}: ${made?.output}`];
  const left = await untilSettled(site, "", 60_000);
  return [...left, ...(await checkExports(site))];
}

async function main(): Promise<number> {
  const site = await makeSite();
  const totals = new RoundTotals(site, { seed, leaseMs });
  try {
    const possible = faults.filter((fault) => (only?.includes(fault.kind) ?? true) && fault.isPossible(site));
    const leftOut = faults.filter((fault) => !fault.isPossible(site)).map(({ kind }) => kind);
    const why = `left out, for want of nodes, or of trees that can be frozen: ${leftOut.join(", ")}`;
    if (leftOut.length > 0) console.log(why);
    console.log(
      `seed ${seed}, ${site.nodes.length} nodes, lease ${leaseMs} ms: ${possible.map(({ kind }) => kind).join(", ")}`,
    );
    const drawing = drawFaults(possible, randomOf(seed));
    const deleted = new DeletedReceipts(site);
    const paceMs = await warmUp(totals, site, deleted);
    for (let index = 1; index <= rounds && !totals.isBroken; index += 1) {
      const { value: fault } = drawing.next() as { value: Fault };
      await totals.take(index, fault.kind, () => runOne({ site, deleted, paceMs }, index, fault));
    }
    totals.note(await site.verifyLedger());
    totals.note(await checkAllExports(site));
    // How many nodes there are was asked for.
    if (only === undefined && !canFreezeTrees) totals.note([why]);
  } finally {
    totals.print();
    await site.end();
    await receiver.end();
    await rm(folder, { recursive: true });
  }
  return totals.problems.length === 0 ? 0 : 1;
}

process.exitCode = await main();
