/**
 * Backups of a large state beside 20 files a second: how long a full one and incremental ones take, and what a host waits for
 * the receipt of its file meanwhile. Time without a backup and time with one take turns, so that what else the machine does
 * counts for both; processor time and the lag of the daemon's event loop tell what is the backup's own. Exit code 1 when an
 * incremental one takes longer than 30 s, or one file of a hundred longer than 100 ms.
 *
 *   node test/nightly/large-backup.ts [--entries 1000000] [--files 100000] [--rounds 3]
 */
import { hash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import BetterSqlite from "better-sqlite3";
import { company, Site, user } from "../support/daemon.ts";
import { SteadyHostProcess } from "./steady-host.ts";

const mostSeconds = 30;
const mostMs = 100;
const filesOfFolder = 5_000;
const padding = "<!-- as long as most -->".repeat(80);

/** Entries of the past: of the last ones the files are there, the bytes of the others were removed. */
function plant(site: Site, { entries, files }: { readonly entries: number; readonly files: number }): void {
  const database = new BetterSqlite(join(site.stateDir, "dropgate.db"));
  const insert = database.prepare(
    `insert into files (company_id, name, name_time, sha256, size, channel, user_name, received_at, state, stop_function,
       stop_nbr, document_id, reasons, records_created, records_updated, records_deleted, decided_at, source, location,
       is_filed, removed_at, removed_by)
     values (1, ?, 20250101080000, ?, ?, 'sftp', 'host', 1, 'applied', '01', ?, null, '[]', 1, 0, 0, 1, ?, ?, 1, ?, ?)`,
  );
  database.transaction(() => {
    for (let nth = 0; nth < entries; nth += 1) {
      const name = `p${nth}_20250101_080000.xml`;
      const folder = `companies/${company}/archive/${1_000 + Math.floor(nth / filesOfFolder)}`;
      const text = `<Stop><StopNbr>P${nth}</StopNbr></Stop>${padding}`;
      const isThere = nth >= entries - files;
      if (isThere) {
        mkdirSync(join(site.stateDir, folder), { recursive: true });
        writeFileSync(join(site.stateDir, folder, name), text);
      }
      const place = [`companies/${company}/inbound/${name}`, `${folder}/${name}`];
      const removal = isThere ? [null, null] : [1, "host"];
      insert.run(name, hash("sha256", text), text.length, `P${nth}`, ...place, ...removal);
    }
  })();
  database.close();
}

/** Processor time of the programs that this one has started and waited for: user and system. */
function childrenCpuSeconds(): number {
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ") ?? [];
  const [user, system] = [fields[13], fields[14]].map(Number);
  const ticksPerSecond = 100;
  return ((user ?? 0) + (system ?? 0)) / ticksPerSecond;
}

async function timed(site: Site, folder: string, ...options: readonly string[]): Promise<number> {
  const [begun, cpuBefore] = [performance.now(), childrenCpuSeconds()];
  const output = await site.mustRun("backup", folder, ...options);
  const seconds = (performance.now() - begun) / 1_000;
  const cpu = (childrenCpuSeconds() - cpuBefore).toFixed(1);
  console.log(`${seconds.toFixed(1)} s, ${cpu} of processor time: ${output.trim().split("\n").join(" ")}`);
  return seconds;
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

interface Observed {
  readonly p99: number;
  readonly faults: readonly string[];
}

/** What the host and the daemon saw while that was done. */
async function observe(
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

const { values } = parseArgs({
  options: { entries: { type: "string" }, files: { type: "string" }, rounds: { type: "string" } },
});
const [entries, files] = [Number(values.entries ?? 1_000_000), Number(values.files ?? 100_000)];
const rounds = Number(values.rounds ?? 3);
const quietMs = 20_000;
const site = await Site.make();
const folder = await mkdtemp(join(tmpdir(), "dropgate-backups-"));
try {
  plant(site, { entries, files });
  await site.start();
  await timed(site, folder);
  const host = await SteadyHostProcess.start({
    ...{ port: site.sftpPort, keyFile: site.keyFile, login: user, receipts: site.path("receipts") },
    ...{ ratePerSecond: 20, firstSerial: 1 },
  });
  for (let round = 1; round <= rounds; round += 1) {
    const quiet = () => new Promise((resolve) => setTimeout(resolve, quietMs));
    await observe({ site, host, what: "without a backup" }, quiet);
    let seconds = 0;
    const { p99, faults } = await observe({ site, host, what: "beside a backup" }, async () => {
      seconds = await timed(site, folder, "--incremental");
    });
    if (seconds > mostSeconds || p99 > mostMs || faults.length > 0) process.exitCode = 1;
  }
  host.end();
} finally {
  await site.end();
  await rm(folder, { recursive: true, force: true });
}
