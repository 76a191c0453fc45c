/** What a steady host and the daemon see while something else is done beside them. */
import { readFileSync } from "node:fs";
import { loadavg } from "node:os";
import type { Site } from "../support/daemon.ts";
import { user } from "../support/site-template.ts";
import { SteadyHostProcess } from "./steady-host.ts";

const filesPerSecond = 20;

/** Twenty files a second to a site that runs, the first with that number. */
export function startSteadyHost(site: Site, firstSerial: number): Promise<SteadyHostProcess> {
  return SteadyHostProcess.start({
    ...{ port: site.sftpPort, keyFile: site.keyFile, login: user, receipts: site.path("receipts") },
    ...{ ratePerSecond: filesPerSecond, firstSerial },
  });
}

/** Processor time of the programs that this one has started and waited for: user and system. */
export function childrenCpuSeconds(): number {
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ") ?? [];
  const [ofUser, ofSystem] = [fields[13], fields[14]].map(Number);
  const ticksPerSecond = 100;
  return ((ofUser ?? 0) + (ofSystem ?? 0)) / ticksPerSecond;
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

interface LoopState {
  /** How many timers ran at most so late, by the bound in seconds as text. */
  readonly buckets: ReadonlyMap<string, number>;
  readonly cpuSeconds: number;
}

async function loopState(site: Site): Promise<LoopState> {
  const text = await (await fetch(`${site.http}/metrics`)).text();
  const buckets = [...text.matchAll(/^dropgate_event_loop_lag_seconds_bucket\{le="([^"]+)"\} (\d+)$/gm)];
  return {
    buckets: new Map(buckets.map(([, bound = "", count]) => [bound, Number(count)])),
    cpuSeconds: Number(/^process_cpu_seconds_total (\S+)$/m.exec(text)?.[1]),
  };
}

/** What the daemon's event loop did between two looks: how many timers were late, and by how much at most. */
function loopText(before: LoopState, after: LoopState): string {
  const counts = [...after.buckets].map(
    ([bound, count]) => [bound, count - (before.buckets.get(bound) ?? 0)] as const,
  );
  const total = counts.at(-1)?.[1] ?? 0;
  const over = (wanted: string) => total - (counts.find(([bound]) => bound === wanted)?.[1] ?? 0);
  const worst = counts.find(([, count]) => count === total)?.[0] ?? "?";
  const late = `${over("0.025")} of ${total} timers over 25 ms late, ${over("0.1")} over 100 ms, none over ${worst} s`;
  return `${late}; ${(after.cpuSeconds - before.cpuSeconds).toFixed(1)} s of processor time in the daemon`;
}

/** Milliseconds from the answered close of a file to its receipt. */
export interface Observed {
  readonly p99: number;
  readonly faults: readonly string[];
}

/** What the host and the daemon saw while that was done; prints it. */
export async function observe(
  { site, host, what }: { readonly site: Site; readonly host: SteadyHostProcess; readonly what: string },
  act: () => Promise<unknown>,
): Promise<Observed> {
  await host.report();
  const before = await loopState(site);
  await act();
  const after = await loopState(site);
  const { timings, faults } = await host.report();
  const waits = timings.map(({ closeToReceiptMs }) => closeToReceiptMs);
  const [p99, median] = [percentile(waits, 0.99), percentile(waits, 0.5)];
  const shown = `close to receipt ${median.toFixed(1)} ms, 99th percentile ${p99.toFixed(1)} of ${waits.length} files`;
  const [load = 0] = loadavg();
  console.log(`${what}: ${shown}; ${loopText(before, after)}; load ${load.toFixed(1)}`);
  for (const fault of faults) console.log(fault);
  return { p99, faults };
}
