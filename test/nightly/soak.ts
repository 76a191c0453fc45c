/**
 * Mixed traffic at a steady rate for a long time: does what the daemon holds level off?
 *
 *   node test/nightly/soak.ts [--minutes 60] [--rate 20] [--snapshots DIR]      after `npm run build`
 *
 * Prints a line each minute, then the rise of each figure in each third of the run. Memory is judged by what is left after
 * full collections, one each two minutes. Ends with 1 when a figure still rises, a request failed, or the ledger is wrong.
 * `--snapshots` writes heap snapshots after four minutes and at the end: each stops the daemon for seconds, and leaves its
 * resident memory larger by a hundred megabytes, so that only the heap says anything then.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { lenient, Site } from "../support/daemon.ts";
import { waitingIn } from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";
import { inspected, SoakProbe } from "./soak-probe.ts";
import { type Sample, verdictsOf } from "./soak-samples.ts";
import { SoakTraffic } from "./soak-traffic.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "60" },
    rate: { type: "string", default: "20" },
    snapshots: { type: "string" },
  },
});
const minutes = Number(values.minutes);
const rate = Number(values.rate);
const sampleMs = 10_000;
/** A collection each two minutes: often enough to see a trend, too seldom to change what the daemon does. */
const looksBetweenCollections = 12;

const columns = ["residentMb", "heapMb", "buffersMb", "descriptors", "threads", "walMb"] as const;

function printHead(): void {
  console.log(["minute", "files", ...columns].map((name) => name.padStart(12)).join(""));
}

function printSample(sample: Sample): void {
  const cells = [sample.minute, sample.filesDone, ...columns.map((name) => sample[name])];
  console.log(cells.map((cell) => cell.toFixed(1).padStart(12)).join(""));
}

async function open(): Promise<{ readonly site: Site; readonly probe: SoakProbe }> {
  const site = await Site.make({ security: lenient });
  await site.addUser("ann", ["DI_Driver"]);
  await site.start({ env: inspected });
  return { site, probe: await SoakProbe.open(site) };
}

interface Watched {
  readonly samples: readonly Sample[];
  /** Each right after a full collection of garbage. */
  readonly collected: readonly Sample[];
}

async function writeSnapshot(probe: SoakProbe, name: string): Promise<void> {
  if (values.snapshots === undefined) return;
  mkdirSync(values.snapshots, { recursive: true });
  await probe.writeHeapSnapshot(join(values.snapshots, `${name}.heapsnapshot`));
}

/** Samples until the time is over. */
async function watch(probe: SoakProbe, traffic: SoakTraffic): Promise<Watched> {
  const [samples, collected]: [Sample[], Sample[]] = [[], []];
  const begun = performance.now();
  const minute = () => (performance.now() - begun) / 60_000;
  printHead();
  for (let look = 0; minute() < minutes; look += 1) {
    await pause(Math.max(0, begun + look * sampleMs - performance.now()));
    const sample = await probe.sample(minute(), traffic.counts.files);
    samples.push(sample);
    if (look % 6 === 0) printSample(sample);
    if (look % looksBetweenCollections !== 0 || look === 0) continue;
    await probe.collectGarbage();
    collected.push(await probe.sample(minute(), traffic.counts.files));
    if (collected.length === 2) await writeSnapshot(probe, "begin");
  }
  await writeSnapshot(probe, "end");
  return { samples, collected };
}

function printVerdicts({ samples, collected }: Watched): readonly string[] {
  console.log(
    `\n${"rise a minute, by thirds".padEnd(26)}${["first", "second", "last"].map((name) => name.padStart(10)).join("")}`,
  );
  const faults: string[] = [];
  for (const { figure, rises, isLevel } of verdictsOf(samples, collected)) {
    const cells = rises.map((rise) => rise.toFixed(3).padStart(10)).join("");
    console.log(`${figure.padEnd(26)}${cells}  ${isLevel ? "level" : "STILL RISES"}`);
    if (!isLevel) faults.push(`${figure} still rises by ${(rises[2] ?? 0).toFixed(3)} a minute`);
  }
  return faults;
}

/** Nothing may be lost: all that was taken is decided, and the ledger is right. */
async function faultsOfLedger(site: Site): Promise<readonly string[]> {
  await waitFor("nothing to wait", async () => (await waitingIn(site)).length === 0 || undefined, 120_000);
  const result = await site.cli("ledger", "verify");
  return result.exitCode === 0 ? [] : [`ledger verify: ${result.output}`];
}

async function run(): Promise<readonly string[]> {
  const { site, probe } = await open();
  try {
    const traffic = new SoakTraffic(site, rate);
    traffic.start();
    const watched = await watch(probe, traffic);
    await traffic.stop();
    const rising = printVerdicts(watched);
    const after = (figure: "residentMb" | "heapMb") =>
      watched.collected.map((one) => one[figure].toFixed(1)).join(" ");
    console.log(`after collections, MB: resident ${after("residentMb")}; heap ${after("heapMb")}`);
    console.log(`traffic: ${JSON.stringify(traffic.counts)}`);
    const failed =
      traffic.faults.length === 0 ? [] : [`${traffic.faults.length} failed: ${traffic.faults[0]}`];
    const late =
      traffic.counts.leftOut === 0 ? [] : [`${traffic.counts.leftOut} left out: the daemon was behind`];
    return [...rising, ...failed, ...late, ...(await faultsOfLedger(site))];
  } finally {
    probe.close();
    await site.end();
  }
}

const faults = await run();
console.log(faults.length === 0 ? "\nlevels off" : `\nNOT SO:\n  ${faults.join("\n  ")}`);
process.exitCode = faults.length === 0 ? 0 : 1;
