/**
 * Twenty files a second over one SFTP session into the real daemon: from the answered close to the receipt, and to the
 * stop over HTTP. Both are looked for again and again, so a figure is too long by up to one look.
 */
import { access } from "node:fs/promises";
import { Agent, request } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { sampleName, sampleStop } from "./sample-stop.ts";
import { type BenchOptions, progress } from "./support/bench-options.ts";
import { type Measurement, medianOf, quantileOf } from "./support/measurement.ts";
import { connectSftp, type SftpUploader } from "./support/sftp-uploader.ts";
import { companyCode, type DaemonSite, prepareDaemon, startDaemon } from "./support/sites.ts";

const filesPerSecond = 20;
const lookMs = 2;
const giveUpMs = 30_000;
const agent = new Agent({ keepAlive: true });

interface Latency {
  readonly receiptMs: number;
  readonly stopMs: number;
}

async function untilFound(closedAt: number, look: () => Promise<boolean>): Promise<number> {
  while (!(await look())) {
    if (performance.now() - closedAt > giveUpMs) throw new Error("a file was not taken in");
    await wait(lookMs);
  }
  return performance.now() - closedAt;
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function statusOf(url: string, authorization: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, headers: { authorization }, timeout: giveUpMs }, (reply) => {
      reply.resume().on("end", () => resolve(reply.statusCode ?? 0));
    });
    sent.on("error", reject).end();
  });
}

async function sendOne(daemon: DaemonSite, uploader: SftpUploader, index: number): Promise<Latency> {
  const { stopNbr, name } = sampleName(index);
  await uploader.put(`/inbound/${name}`, Buffer.from(sampleStop(stopNbr)));
  const closedAt = performance.now();
  const receipt = daemon.path("receipts", name.replace(/\.xml$/, ".receipt.xml"));
  const url = `${daemon.http}/v5/stop/info/${stopNbr}/${companyCode}`;
  const [receiptMs, stopMs] = await Promise.all([
    untilFound(closedAt, () => isThere(receipt)),
    untilFound(closedAt, async () => (await statusOf(url, daemon.authorization)) === 200),
  ]);
  return { receiptMs, stopMs };
}

/** Files leave at fixed times, however long the ones before take. */
async function sendSteadily(
  daemon: DaemonSite,
  uploader: SftpUploader,
  from: number,
  seconds: number,
): Promise<Latency[]> {
  const sent: Promise<Latency>[] = [];
  const startedAt = performance.now();
  for (let index = 0; index < seconds * filesPerSecond; index += 1) {
    await wait(Math.max(0, startedAt + (index * 1000) / filesPerSecond - performance.now()));
    sent.push(sendOne(daemon, uploader, from + index));
  }
  return await Promise.all(sent);
}

function measurementOf(what: string, values: readonly number[], limitMs?: number): Measurement {
  const below =
    limitMs === undefined ? {} : { wanted: { of: "figure", is: "below", limit: limitMs } as const };
  return { suite: "latency", what, figure: { values, unit: "ms" }, ...below };
}

function measurementsOf(rounds: readonly (readonly Latency[])[]): Measurement[] {
  const each = (pick: (one: Latency) => number, of: (values: readonly number[]) => number) =>
    rounds.map((latencies) => of(latencies.map(pick)));
  const both = ({ receiptMs, stopMs }: Latency) => Math.max(receiptMs, stopMs);
  const p99 = (values: readonly number[]) => quantileOf(values, 0.99);
  return [
    measurementOf("close to receipt and stop, median", each(both, medianOf), 30),
    measurementOf("close to receipt and stop, 99th percentile", each(both, p99), 150),
    measurementOf(
      "close to receipt, median",
      each(({ receiptMs }) => receiptMs, medianOf),
    ),
    measurementOf(
      "close to stop over HTTP, median",
      each(({ stopMs }) => stopMs, medianOf),
    ),
  ];
}

export async function benchLatency({ rounds, isQuick, home }: BenchOptions): Promise<Measurement[]> {
  const seconds = isQuick ? 3 : 30;
  const daemon = await startDaemon(await prepareDaemon(home));
  const uploader = await connectSftp(daemon);
  try {
    await sendSteadily(daemon, uploader, 0, 2);
    const all: Latency[][] = [];
    for (let round = 1; round <= rounds; round += 1) {
      all.push(await sendSteadily(daemon, uploader, round * 10_000, seconds));
      progress(".");
    }
    return measurementsOf(all);
  } finally {
    uploader.end();
    agent.destroy();
    await daemon.end();
  }
}
