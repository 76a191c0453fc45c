/** A large import of loads into the real daemon, while stop details are read. */
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { readsOf } from "./gateway-reads.ts";
import { type BenchOptions, progress } from "./support/bench-options.ts";
import { settleDisk } from "./support/folders.ts";
import { addLoads } from "./support/gateway-rows.ts";
import type { LoadClient } from "./support/load-client.ts";
import { type LoadResult, numberText } from "./support/load-job.ts";
import { httpSiteOf } from "./support/load-turns.ts";
import { type Measurement, quantileOf } from "./support/measurement.ts";
import { companyCode, type DaemonSite, prepareDaemon, startDaemon } from "./support/sites.ts";
import { jsonLoadHeader, jsonStop, products, stopsOnLoad } from "./sample-json.ts";

/** The default of `http.maxLoads`. */
const loadsOfImport = 500;
const readers = 10;
const filledLoads = 100;
const lookMs = 20;
const giveUpMs = 120_000;

function importBody(round: number, loads: number): string {
  const list = Array.from({ length: loads }, (_, index) => {
    const serial = numberText(round * loads + index);
    const stops = Array.from({ length: stopsOnLoad }, (_each, at) =>
      jsonStop(`I${serial}-${at}`, products.small),
    );
    return { loadHeader: jsonLoadHeader(`I${serial}`), stops };
  });
  return JSON.stringify({ companyCode, loads: list });
}

interface ImportInfo {
  readonly status: string;
}

async function ask<T>(daemon: DaemonSite, path: string, body?: string): Promise<T> {
  const { authorization } = daemon;
  const post = { method: "POST", headers: { authorization, "content-type": "application/json" } };
  const init = body === undefined ? { headers: { authorization } } : { ...post, body };
  const answer = await fetch(`${daemon.http}${path}`, init);
  if (answer.status !== 200) throw new Error(`${path} was answered with ${answer.status}`);
  return (await answer.json()) as T;
}

async function untilApplied(daemon: DaemonSite, importId: string): Promise<void> {
  const until = performance.now() + giveUpMs;
  for (;;) {
    const { status } = await ask<ImportInfo>(daemon, `/v5/import/info/${importId}/${companyCode}`);
    if (status === "Success") return;
    if (status !== "InProgress" || performance.now() > until) throw new Error(`the import is ${status}`);
    await wait(lookMs);
  }
}

interface Times {
  /** Milliseconds since 1970. */
  readonly sentAt: number;
  readonly answeredAt: number;
  readonly appliedAt: number;
}

function now(): number {
  return performance.timeOrigin + performance.now();
}

async function importLoads(daemon: DaemonSite, body: string): Promise<Times> {
  const sentAt = now();
  const path = `/v5/load/update/default/${companyCode}`;
  const { importId } = await ask<{ importId: string }>(daemon, path, body);
  const answeredAt = now();
  await untilApplied(daemon, importId);
  return { sentAt, answeredAt, appliedAt: now() };
}

interface Round {
  readonly answerMs: number;
  readonly applyMs: number;
  readonly readP99Ms: number;
  /** With the time in which the import is taken, before its answer. */
  readonly wholeP99Ms: number;
  readonly slowestMs: number;
  readonly readsPerSecond: number;
}

/** The times of the reads that were answered between two moments. */
function readsBetween({ answeredAt, tookMs }: LoadResult, from: number, to: number): number[] {
  return Array.from(tookMs).filter((_, index) => {
    const at = answeredAt[index] ?? 0;
    return at >= from && at <= to;
  });
}

function roundOf({ sentAt, answeredAt, appliedAt }: Times, reads: LoadResult): Round {
  // A read that began before the end belongs to it.
  const applying = readsBetween(reads, answeredAt, appliedAt);
  const whole = readsBetween(reads, sentAt, appliedAt);
  const applyMs = appliedAt - answeredAt;
  return {
    ...{ answerMs: answeredAt - sentAt, applyMs },
    readP99Ms: quantileOf(applying, 0.99),
    wholeP99Ms: quantileOf(whole, 0.99),
    slowestMs: whole.reduce((slowest, ms) => Math.max(slowest, ms), 0),
    readsPerSecond: applying.length / (applyMs / 1000),
  };
}

async function measureRound(daemon: DaemonSite, client: LoadClient, body: string): Promise<Round> {
  await settleDisk();
  const kind = {
    ...readsOf("stop", { loads: filledLoads, asked: filledLoads }, daemon.authorization),
    connections: readers,
  };
  const { port } = httpSiteOf(daemon);
  const reading = client.begin({ ...kind, port, warmUpSeconds: 0.5, seconds: giveUpMs / 1000 });
  await wait(1_000);
  const imported = importLoads(daemon, body).finally(() => reading.stop());
  const [times, reads] = await Promise.all([imported, reading.result]);
  progress(".");
  return roundOf(times, reads);
}

function measurementsOf(rounds: readonly Round[], loads: number): Measurement[] {
  const each = (pick: (round: Round) => number) => ({ values: rounds.map(pick), unit: "ms" });
  const slowest = Math.max(...rounds.map(({ slowestMs }) => slowestMs)).toFixed(0);
  const rates = rounds.map(({ readsPerSecond }) => readsPerSecond.toFixed(0)).join(", ");
  const suite = "gateway";
  const what = `import of ${loads} loads with ${stopsOnLoad} stops`;
  return [
    {
      ...{ suite, what: `${what}, from its answer until applied` },
      figure: each(({ applyMs }) => applyMs),
      wanted: { of: "figure", is: "below", limit: 3_000 },
    },
    {
      ...{ suite, what: "99th percentile of stop details meanwhile, 10 connections" },
      figure: each(({ readP99Ms }) => readP99Ms),
      wanted: { of: "figure", is: "below", limit: 100 },
      note: `${rates} reads/s`,
    },
    {
      ...{ suite, what: "the same from the first byte of the import" },
      figure: each(({ wholeP99Ms }) => wholeP99Ms),
      note: `the slowest of all took ${slowest} ms`,
    },
    { ...{ suite, what: `${what}, until its answer` }, figure: each(({ answerMs }) => answerMs) },
  ];
}

export async function benchImports(
  { rounds, isQuick, home }: BenchOptions,
  client: LoadClient,
): Promise<Measurement[]> {
  const loads = isQuick ? 50 : loadsOfImport;
  const prepared = await prepareDaemon(home);
  addLoads(join(prepared.folder, "var"), filledLoads);
  const daemon = await startDaemon(prepared);
  try {
    // Code is warm in a server that runs for months: the first round does not count.
    await measureRound(daemon, client, importBody(0, loads));
    const measured: Round[] = [];
    for (let round = 1; round <= rounds; round += 1)
      measured.push(await measureRound(daemon, client, importBody(round, loads)));
    return measurementsOf(measured, loads);
  } finally {
    await daemon.end();
  }
}
