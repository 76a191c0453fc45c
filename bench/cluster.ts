/**
 * Four nodes beside one, on the same PostgreSQL and the same tree, behind HAProxy, near the database and with 5 ms more for each
 * answer of it; and how long the companies of a node that dies or stands still wait for another one.
 *
 * Each node is as on a machine of its own that is the same in both: a fifth of a core, and as many sessions of hosts for each node
 * that there is. Three of four files come to a node that has not their company. Each begins anew for each turn and has handled the
 * same number of files when it is measured. Files are counted, and processor time of daemons and server, over some seconds in
 * which nothing begins or ends.
 */
import { setTimeout as wait } from "node:timers/promises";
import type { ClusterNode } from "../test/support/cluster-node.ts";
import { ClusterSite } from "../test/support/cluster-site.ts";
import { waitFor } from "../test/support/wait-for.ts";
import { type BenchOptions, progress } from "./support/bench-options.ts";
import { settleDisk } from "./support/folders.ts";
import { type Measurement, quantileOf, ratiosOf } from "./support/measurement.ts";
import { canShare, holdToShare } from "./support/processor-share.ts";
import { serverCpuMs } from "./support/postgres-store.ts";
import { SendingHosts } from "./support/sending-hosts.ts";
import { cpuMsOf } from "./support/sites.ts";

const nodeCount = 4;
/** With the idle one and what concerns none six for each node: with few, one node has several busy ones more than another. */
const companyCount = 22;
/** Sessions of each company, for each node. */
const linksOfCompany = 2;
/** Of a core, for each node. */
const share = 0.2;
const settleMs = 1_500;
const delayMs = 5;
/** The default. */
const leaseMs = 10_000;
const shortLeaseMs = 3_000;

interface Lengths {
  /** Files of each node before it is measured: code and caches are warm in nodes that run for months. */
  readonly warmFiles: number;
  readonly measuredMs: number;
}

const usual: Lengths = { warmFiles: 1_500, measuredMs: 15_000 };
const quick: Lengths = { warmFiles: 200, measuredMs: 3_000 };

interface Turn {
  readonly cpuMs: number;
  readonly perSecond: number;
}

interface Reading {
  readonly atMs: number;
  readonly cpuMs: number;
  readonly files: number;
}

async function readingOf(site: ClusterSite, hosts: SendingHosts): Promise<Reading> {
  const files = await hosts.countFiles();
  const times = await Promise.all(site.running.map((node) => cpuMsOf(node.run.process)));
  const cpuMs = times.reduce((sum, ms) => sum + ms, serverCpuMs(site.database));
  return { atMs: performance.now(), cpuMs, files };
}

/** Only the first nodes run, and all companies are shared out among them. */
async function runNodes(site: ClusterSite, count: number): Promise<void> {
  await stopAllBut(site.nodes.slice(0, count), site);
  await Promise.all(site.nodes.slice(0, count).map((node) => (node.isRunning ? undefined : node.start())));
  await waitFor("the companies to be shared out", () => site.areShared(count));
}

async function stopAllBut(kept: readonly ClusterNode[], site: ClusterSite): Promise<void> {
  await Promise.all(site.running.filter((node) => !kept.includes(node)).map((node) => node.stop()));
}

/** One that went on from the turn before would be warmer than those that begin. */
async function startAnew(site: ClusterSite, count: number): Promise<void> {
  await stopAllBut([], site);
  await runNodes(site, count);
}

async function warmUp(site: ClusterSite, hosts: SendingHosts, count: number): Promise<void> {
  const before = await hosts.countFiles();
  while ((await hosts.countFiles()) - before < count) await wait(settleMs);
  // The server would do it at some moment.
  await site.database.ask("vacuum analyze");
}

async function takeTurn(site: ClusterSite, nodes: number, { measuredMs, warmFiles }: Lengths): Promise<Turn> {
  await startAnew(site, nodes);
  await settleDisk();
  const hosts = await SendingHosts.start(site, linksOfCompany * nodes);
  await warmUp(site, hosts, warmFiles * nodes);
  const releases = site.running.map(({ run }) => holdToShare(run.process.pid ?? 0, share));
  await wait(settleMs);
  const before = await readingOf(site, hosts);
  await wait(measuredMs);
  const after = await readingOf(site, hosts);
  for (const release of releases) release();
  await hosts.end();
  progress(".");
  const count = after.files - before.files;
  return {
    cpuMs: (after.cpuMs - before.cpuMs) / count,
    perSecond: (count * 1_000) / (after.atMs - before.atMs),
  };
}

interface Turns {
  readonly one: Turn[];
  readonly four: Turn[];
}

async function compare(site: ClusterSite, rounds: number, lengths: Lengths): Promise<Turns> {
  const turns: Turns = { one: [], four: [] };
  for (let round = 0; round < rounds; round += 1) {
    const inOrder = round % 2 === 0 ? ([1, nodeCount] as const) : ([nodeCount, 1] as const);
    for (const nodes of inOrder)
      turns[nodes === 1 ? "one" : "four"].push(await takeTurn(site, nodes, lengths));
  }
  return turns;
}

/** From the fault until another node works for each of the companies, in milliseconds. */
async function takeOver(
  site: ClusterSite,
  node: ClusterNode,
  strike: () => Promise<void>,
): Promise<readonly number[]> {
  await runNodes(site, nodeCount);
  const owned = [...(await site.owners())].filter(([code, owner]) => owner === node.name && code !== "-");
  const struckAt = Date.now();
  await strike();
  const others = site.nodes.filter((other) => other !== node);
  const takenAt = (code: string) =>
    others
      .flatMap(({ log }) => log)
      .find(
        (line) => line.msg === "company taken over" && line["company"] === code && timeOf(line) > struckAt,
      );
  const times = owned.map(([code]) =>
    waitFor(`${code} to be taken over`, () => {
      const line = takenAt(code);
      return line === undefined ? undefined : timeOf(line) - struckAt;
    }),
  );
  return await Promise.all(times);
}

const timeOf = (line: { readonly [name: string]: unknown }) => Date.parse(String(line["time"]));

async function measureTakeOvers(site: ClusterSite, trials: number): Promise<readonly Measurement[]> {
  const [killed, frozen]: [number[], number[]] = [[], []];
  for (let trial = 0; trial < trials; trial += 1) {
    const node = site.nodes[trial % nodeCount];
    if (node === undefined) throw new Error("there is no node");
    killed.push(...(await takeOver(site, node, () => node.kill())));
    await node.start();
    frozen.push(...(await takeOver(site, node, async () => node.freeze())));
    await wait(2 * site.leaseMs);
    node.thaw();
    progress(".");
  }
  return [takeOverOf("killed", killed, site.leaseMs), takeOverOf("frozen", frozen, site.leaseMs)];
}

function takeOverOf(how: string, values: readonly number[], lease: number): Measurement {
  return {
    suite: "cluster",
    what: `time until another node works for a company whose node is ${how} (lease ${lease} ms)`,
    figure: { values, unit: "ms" },
    wanted: { of: "figure", is: "below", limit: lease + 1_000 },
    note: `95 of 100 within ${quantileOf(values, 0.95)} ms`,
  };
}

function compared({ one, four }: Turns, what: string, figure: (turn: Turn) => number, unit: string) {
  const [ofOne, ofFour] = [one.map(figure), four.map(figure)];
  return {
    ...{ suite: "cluster", what, figure: { values: ofFour, unit }, floor: { values: ofOne, unit } },
    ratios: ratiosOf(ofFour, ofOne),
    note: canShare ? `each node has ${share} of a core` : "the nodes share the cores: no control groups here",
  };
}

async function withSite<T>(lease: number, use: (site: ClusterSite) => Promise<T>): Promise<T> {
  const site = await ClusterSite.make({ nodes: nodeCount, companies: companyCount, leaseMs: lease });
  try {
    return await use(site);
  } finally {
    await site.end();
  }
}

export async function benchCluster({ rounds, isQuick }: BenchOptions): Promise<Measurement[]> {
  const lengths = isQuick ? quick : usual;
  return await withSite(leaseMs, async (site) => {
    const near = await compare(site, rounds, lengths);
    for (const node of site.nodes) node.link.slowDown(delayMs / 2);
    const far = await compare(site, rounds, lengths);
    const takeOvers = await withSite(shortLeaseMs, (other) =>
      measureTakeOvers(other, isQuick ? 1 : nodeCount),
    );
    return [
      {
        ...compared(
          near,
          "processor time a file, four nodes beside one, as many hosts for each",
          ({ cpuMs }) => cpuMs,
          "ms",
        ),
        wanted: { of: "ratio", is: "below", limit: 1.15 },
      },
      {
        ...compared(
          far,
          `files a second with ${delayMs} ms to the database and back, four nodes beside one, as many hosts for each`,
          ({ perSecond }) => perSecond,
          "1/s",
        ),
        wanted: { of: "ratio", is: "at least", limit: 3.5 },
      },
      ...takeOvers,
    ];
  });
}
