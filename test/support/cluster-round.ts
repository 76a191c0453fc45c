/** One round: the hosts of all companies send, something befalls the cluster, and when all is settled everything is looked at. */
import { setTimeout as pause } from "node:timers/promises";
import { checkRound, type Outage, untilSettled, type Verdict } from "./cluster-checks.ts";
import type { Fault } from "./cluster-faults.ts";
import { runHost, Traffic } from "./cluster-host.ts";
import type { DeletedReceipts } from "./cluster-receipts.ts";
import type { ClusterSite, ClusterPlan } from "./cluster-site.ts";
import type { Receiver } from "./receiver.ts";
import { StolenTime } from "./stolen-time.ts";
import { waitFor } from "./wait-for.ts";

export interface RoundPlan {
  /** Begins the numbers of its stops; no other round has it. */
  readonly prefix: string;
  readonly fault: Fault;
  readonly random: () => number;
  readonly receiver: Receiver;
  readonly stopsOfCompany: number;
  readonly paceMs: number;
  /** Whether no node has more than its share of the companies before; else they may move meanwhile, after the round before. */
  readonly isShared: boolean;
  readonly deleted?: DeletedReceipts;
  /** Whether hosts delete receipts of the round before. */
  readonly deletes?: boolean;
}

export interface RoundOutcome {
  readonly verdict: Verdict;
  /** What was done, in words. */
  readonly words: string;
  /** What other machines have taken of the processors meanwhile, of 1. */
  readonly stolenShare: number;
}

/** Beyond this a host, or what waits, has been forgotten. */
const longestMs = 180_000;
/** Deliveries that have failed once or twice are tried again within half a minute each. */
const settlingMs = 90_000;

/** What a company of a cluster that is looked at has, besides files: two targets, and an export each minute. */
export function companySection(receiver: Receiver, caFile: string): NonNullable<ClusterPlan["company"]> {
  const host = { type: "https", url: receiver.url, ca: caFile, connections: 3 };
  const often = { schedule: "* * * * *", zone: "UTC", target: "outbound", form: "files" };
  return { outbound: { on: [7007], targets: { outbound: { type: "folder" }, host }, exports: { often } } };
}

/** Resolves when all nodes run and somebody has each company, with `isShared` none more than its share. */
async function untilServing(site: ClusterSite, { isShared }: Pick<RoundPlan, "isShared">): Promise<void> {
  await site.startAll();
  const nodes = isShared ? site.nodes.length : 1;
  const timeoutMs = longestMs + 4 * site.leaseMs;
  await waitFor("each company to have a node", () => site.areShared(nodes), timeoutMs);
}

async function strikeBeside(
  site: ClusterSite,
  plan: RoundPlan,
  outages: Outage[],
  traffic: Traffic,
): Promise<string> {
  const { prefix, fault, random, stopsOfCompany: stops, paceMs } = plan;
  const closing = new AbortController();
  const end = new AbortController();
  const common = { site, prefix, random, stops, paceMs, traffic, closing: closing.signal, end: end.signal };
  const sending = Promise.all(site.companies.map((company) => runHost({ ...common, company })));
  // Waited for below; a failure before that is told then.
  sending.catch(() => undefined);
  try {
    await pause(500 + random() * 1_500);
    const words = await fault.strike({ site, random, outages });
    await pause(site.leaseMs / 2);
    return words;
  } finally {
    closing.abort();
    const late = setTimeout(() => end.abort(new Error("hosts are not answered any more")), longestMs);
    await sending.finally(() => clearTimeout(late));
  }
}

export async function runRound(site: ClusterSite, plan: RoundPlan): Promise<RoundOutcome> {
  const stolen = new StolenTime();
  try {
    return await runWhile(stolen, site, plan);
  } finally {
    stolen.end();
  }
}

async function runWhile(stolen: StolenTime, site: ClusterSite, plan: RoundPlan): Promise<RoundOutcome> {
  const [traffic, outages]: [Traffic, Outage[]] = [new Traffic(), []];
  await untilServing(site, plan);
  if (plan.deletes === true) await plan.deleted?.deleteSome();
  const words = await strikeBeside(site, plan, outages, traffic);
  const { prefix, receiver } = plan;
  const left = await untilSettled(site, prefix, settlingMs);
  const verdict = await checkRound(site, { prefix, traffic, outages, posts: receiver.posts, stolen });
  verdict.problems.push(...left, ...((await plan.deleted?.cameAgain()) ?? []));
  plan.deleted?.note(traffic.files);
  receiver.posts.length = 0;
  return { verdict, words, stolenShare: stolen.share };
}
