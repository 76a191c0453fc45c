/**
 * npm run bench: each figure beside its floor, from the same run. Prints a table and writes JSON to bench/results/.
 *
 *   npm run bench -- --only sftp --rounds 3 --quick --keep
 *
 * Ends with 0 also when a figure misses what is wanted, and says so: how quick a machine is, is no fault of the code. Ends
 * with 1 when a suite could not be measured.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { benchAppointments } from "./appointments.ts";
import { benchBacklog } from "./backlog.ts";
import { benchCluster } from "./cluster.ts";
import { benchConsole } from "./console.ts";
import { benchEvents } from "./events.ts";
import { benchFtp } from "./ftp.ts";
import { benchGateway } from "./gateway.ts";
import { benchLatency } from "./latency.ts";
import { benchOutbound } from "./outbound.ts";
import { benchScrape } from "./scrape.ts";
import { benchSftp } from "./sftp.ts";
import { benchStart } from "./start.ts";
import { benchSteady } from "./steady.ts";
import { benchStores } from "./stores.ts";
import { type BenchOptions, progress } from "./support/bench-options.ts";
import { keepFolders, untilFilesAreMadeQuickly } from "./support/folders.ts";
import { isMet, type Measurement } from "./support/measurement.ts";
import { jsonOf, tableOf } from "./support/report.ts";
import { runProgram } from "./support/run-program.ts";
import { defaultHome } from "./support/sites.ts";

const suites: Readonly<Record<string, (options: BenchOptions) => Promise<Measurement[]>>> = {
  sftp: benchSftp,
  ftp: benchFtp,
  latency: benchLatency,
  steady: benchSteady,
  start: benchStart,
  backlog: benchBacklog,
  gateway: benchGateway,
  events: benchEvents,
  outbound: benchOutbound,
  appointments: benchAppointments,
  scrape: benchScrape,
  console: benchConsole,
  cluster: benchCluster,
  stores: benchStores,
};

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: Object.keys(suites) },
    rounds: { type: "string" },
    quick: { type: "boolean", default: false },
    home: { type: "string" },
    keep: { type: "boolean", default: false },
  },
});
const unknown = values.only.filter((name) => !Object.hasOwn(suites, name));
const rounds = Number(values.rounds ?? (values.quick ? 1 : 5));
if (unknown.length > 0 || !Number.isInteger(rounds) || rounds < 1) {
  process.stderr.write(
    `usage: npm run bench -- [--only ${Object.keys(suites).join("|")}]... [--rounds N] [--quick] [--home CHECKOUT] [--keep]\n`,
  );
  process.exit(2);
}

if (values.keep) keepFolders();
const home = values.home ?? defaultHome;
await runProgram("sh", [join(home, "bin/prepare")]);
progress("waiting for a quiet file system ");
const creationMs = await untilFilesAreMadeQuickly();
progress(`(${creationMs.toFixed(3)} ms to make a file)\n`);
const loadBefore = loadavg()[0] ?? 0;
const measurements: Measurement[] = [];
const broken: string[] = [];
for (const name of values.only) {
  progress(`${name} `);
  try {
    measurements.push(...((await suites[name]?.({ rounds, isQuick: values.quick, home })) ?? []));
  } catch (error) {
    // The others are worth having, and what was measured so far.
    process.stderr.write(`\n${error instanceof Error ? error.stack : String(error)}`);
    broken.push(name);
  }
  progress("\n");
}

const missed = measurements.filter((measurement) => isMet(measurement) === false);
const at = new Date().toISOString();
const surroundings = {
  at,
  node: process.version,
  processors: availableParallelism(),
  creationMs,
  loadBefore,
  loadAfter: loadavg()[0] ?? 0,
};
const folder = join(import.meta.dirname, "results");
mkdirSync(folder, { recursive: true });
const file = join(folder, `${at.replaceAll(":", "-")}.json`);
writeFileSync(file, jsonOf(measurements, surroundings));
const { node, processors, loadAfter } = surroundings;
process.stdout.write(
  `${tableOf(measurements).join("\n")}\n\n${rounds} rounds, ${processors} processors, Node.js ${node}, ` +
    `load ${loadBefore.toFixed(1)} before and ${loadAfter.toFixed(1)} after; ${file}\n` +
    `${missed.length === 0 ? "Nothing is missed." : `${missed.length} missed: ${missed.map(({ what }) => what).join("; ")}`}\n`,
);
if (broken.length > 0) {
  process.stderr.write(`not measured: ${broken.join(", ")}\n`);
  process.exitCode = 1;
}
