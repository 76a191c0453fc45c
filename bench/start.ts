/**
 * From the start of the process to "ready", with a ledger of years, beside one that is empty; and what a thousand companies
 * without any traffic cost a daemon, beside one company.
 */
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type BenchOptions, progress } from "./support/bench-options.ts";
import { addAppliedRows, addCompanies } from "./support/ledger-rows.ts";
import { settleDisk } from "./support/folders.ts";
import { type Measurement, ratiosOf } from "./support/measurement.ts";
import { cpuMsOf, endProcess, type Prepared, prepareDaemon, startDaemon } from "./support/sites.ts";

async function readyMsOf(prepared: Prepared): Promise<number> {
  const daemon = await startDaemon(prepared);
  await endProcess(daemon.process);
  progress(".");
  return daemon.readyMs;
}

/** What is done once, soon after the start, is over by then. */
const beginMs = 20_000;
const idleMs = 60_000;

interface Cost {
  /** Processor time until `beginMs` after "ready", and of an idle minute after that. */
  readonly startMs: number;
  readonly idleMs: number;
}

async function costOf(prepared: Prepared, isQuick: boolean): Promise<Cost> {
  const share = isQuick ? 0.1 : 1;
  const daemon = await startDaemon(prepared);
  await wait(beginMs * share);
  const startMs = await cpuMsOf(daemon.process);
  await wait(idleMs * share);
  const cost = { startMs, idleMs: (await cpuMsOf(daemon.process)) - startMs };
  await endProcess(daemon.process);
  progress(".");
  return cost;
}

async function benchCompanies({ rounds, isQuick, home }: BenchOptions): Promise<Measurement[]> {
  const [many, one] = [await prepareDaemon(home), await prepareDaemon(home)];
  const count = 1_000;
  addCompanies(join(many.folder, "var"), count - 1);
  // Makes their folders.
  await readyMsOf(many);
  const [figure, floor]: [Cost[], Cost[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    figure.push(await costOf(many, isQuick));
    floor.push(await costOf(one, isQuick));
  }
  const measured = (what: string, of: keyof Cost): Measurement => {
    const [values, least] = [figure.map((cost) => cost[of]), floor.map((cost) => cost[of])];
    return {
      ...{ suite: "start", what, ratios: ratiosOf(values, least) },
      figure: { values, unit: "ms" },
      floor: { values: least, unit: "ms" },
    };
  };
  return [
    measured(`processor time of a start with ${count} companies, beside one`, "startMs"),
    measured(`processor time of an idle minute with ${count} companies, beside one`, "idleMs"),
  ];
}

export async function benchStart(options: BenchOptions): Promise<Measurement[]> {
  return [...(await benchLedger(options)), ...(await benchCompanies(options))];
}

async function benchLedger({ rounds, isQuick, home }: BenchOptions): Promise<Measurement[]> {
  const rows = isQuick ? 50_000 : 1_000_000;
  const full = await prepareDaemon(home);
  const empty = await prepareDaemon(home);
  addAppliedRows(join(full.folder, "var"), rows);
  await settleDisk();
  const [figure, floor]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    figure.push(await readyMsOf(full));
    floor.push(await readyMsOf(empty));
  }
  return [
    {
      suite: "start",
      what: `ready with ${rows} ledger entries, beside none`,
      figure: { values: figure, unit: "ms" },
      floor: { values: floor, unit: "ms" },
      ratios: ratiosOf(figure, floor),
      wanted: { of: "figure", is: "below", limit: 1_500 },
    },
  ];
}
