/**
 * Waiting files: the pipeline beside a bare loop, many files beside few, and the memory of the real daemon.
 * Each run is a process of its own, turn by turn, which works off a first round of files before its clock starts.
 */
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { openSqlite } from "../src/store/database/sqlite-dialect.ts";
import { type BenchOptions, progress } from "./support/bench-options.ts";
import { newFolder, settleDisk } from "./support/folders.ts";
import { addWaitingFiles } from "./support/ledger-rows.ts";
import { type Measurement, ratiosOf } from "./support/measurement.ts";
import { runScript } from "./support/run-program.ts";
import { memoryOf, prepareDaemon, startDaemon } from "./support/sites.ts";

/** Files in one commit: the default of `inbound.groupSize`. */
const groupSize = 64;
const maxMemoryMb = 300;

interface Run {
  readonly perSecond: number;
}

async function run(
  script: "backlog-floor.ts" | "backlog-pipeline.ts",
  count: number,
  warmUp: number,
): Promise<Run> {
  const folder = await newFolder("backlog");
  const { stdout } = await runScript(script, [`${count}`, folder, `${groupSize}`, `${warmUp}`]);
  await settleDisk();
  progress(".");
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as Run;
}

/** The highest memory of the real daemon while it starts with that many waiting files and works them off. */
async function daemonMemory(count: number, home: string): Promise<{ peakMb: number; perSecond: number }> {
  const prepared = await prepareDaemon(home);
  const stateDir = join(prepared.folder, "var");
  await addWaitingFiles(stateDir, count);
  const startedAt = performance.now();
  const daemon = await startDaemon(prepared);
  const database = openSqlite(join(stateDir, "dropgate.db"), { isNew: false });
  try {
    const open = database.prepare("select count(*) as left from files where is_filed = 0");
    while ((open.get() as { left: number }).left > 0) await wait(200);
    const seconds = (performance.now() - startedAt) / 1000;
    const { peakMb } = await memoryOf(daemon.process);
    progress(".");
    return { peakMb, perSecond: count / seconds };
  } finally {
    database.close();
    await daemon.end();
  }
}

interface Runs {
  readonly floor: Run[];
  readonly few: Run[];
  readonly many: Run[];
}

function memoryMeasurement(
  daemon: readonly { peakMb: number; perSecond: number }[],
  counts: { few: number; many: number },
): Measurement {
  const rates = daemon.map(({ perSecond }) => perSecond.toFixed(0)).join(", ");
  return {
    suite: "backlog",
    what: `memory of the daemon, ${counts.few} and ${counts.many} waiting`,
    figure: { values: [Math.max(...daemon.map(({ peakMb }) => peakMb))], unit: "MB" },
    wanted: { of: "figure", is: "below", limit: maxMemoryMb },
    note: `${daemon.map(({ peakMb }) => peakMb.toFixed(0)).join(", ")} MB; ${rates} files/s with the start`,
  };
}

function ratesOf(runs: readonly Run[]): number[] {
  return runs.map(({ perSecond }) => perSecond);
}

export async function benchBacklog({ rounds, isQuick, home }: BenchOptions): Promise<Measurement[]> {
  const counts = isQuick ? { few: 1_000, many: 5_000 } : { few: 10_000, many: 100_000 };
  // Code is warm in a server that runs for months: the first files do not count.
  const warmUp = isQuick ? 500 : 3_000;
  const runs: Runs = { floor: [], few: [], many: [] };
  for (let round = 0; round < rounds; round += 1) {
    runs.floor.push(await run("backlog-floor.ts", counts.few, warmUp));
    runs.few.push(await run("backlog-pipeline.ts", counts.few, warmUp));
    runs.many.push(await run("backlog-pipeline.ts", counts.many, warmUp));
  }
  const daemon = [await daemonMemory(counts.few, home), await daemonMemory(counts.many, home)];
  const [floor, few, many] = [ratesOf(runs.floor), ratesOf(runs.few), ratesOf(runs.many)];
  const unit = "files/s";
  return [
    {
      suite: "backlog",
      what: `${counts.few} waiting files, beside a bare loop that writes the same rows and receipts`,
      figure: { values: few, unit },
      floor: { values: floor, unit },
      ratios: ratiosOf(few, floor),
      wanted: { of: "ratio", is: "at least", limit: 0.6 },
    },
    {
      suite: "backlog",
      what: `${counts.many} waiting files, beside ${counts.few}`,
      figure: { values: many, unit },
      floor: { values: few, unit },
      ratios: ratiosOf(many, few),
      wanted: { of: "ratio", is: "at least", limit: 0.85 },
    },
    memoryMeasurement(daemon, counts),
  ];
}
