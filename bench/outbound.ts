/** Completion files that wait for the company's folder, beside a bare loop, and with many more that wait behind them. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type BenchOptions, progress } from "./support/bench-options.ts";
import { addDeliveries, deliveryTimes } from "./support/delivery-rows.ts";
import { newFolder, settleDisk } from "./support/folders.ts";
import { type Measurement, ratiosOf } from "./support/measurement.ts";
import { runScript } from "./support/run-program.ts";
import { prepareDaemon, startDaemon } from "./support/sites.ts";

const lookMs = 200;
const giveUpMs = 300_000;

interface Delivered {
  readonly perSecond: number;
  /** One of the files. */
  readonly sample: string;
}

async function untilDelivered(folder: string, count: number): Promise<void> {
  const until = performance.now() + giveUpMs;
  for (;;) {
    if ((await readdir(folder)).filter((name) => !name.startsWith(".")).length >= count) return;
    if (performance.now() > until) throw new Error("the deliveries take too long");
    await wait(lookMs);
  }
}

/** How quickly the first `measured` of so many are delivered, from the first attempt on. */
async function deliver(home: string, waiting: number, measured: number): Promise<Delivered> {
  const prepared = await prepareDaemon(home);
  const stateDir = join(prepared.folder, "var");
  addDeliveries(stateDir, waiting);
  await settleDisk();
  const daemon = await startDaemon(prepared);
  const folder = daemon.path("outbound");
  try {
    await untilDelivered(folder, measured);
  } finally {
    await daemon.end();
  }
  const { begunAt, doneAt } = deliveryTimes(stateDir);
  const names = await readdir(folder);
  const tookMs = (doneAt[measured - 1] ?? Number.NaN) - begunAt;
  progress(".");
  const sample = join(folder, names.find((name) => name.endsWith(".xml")) ?? "");
  return { perSecond: measured / (tookMs / 1_000), sample };
}

async function bareLoop(count: number, sample: string): Promise<number> {
  const folder = await newFolder("bare-folder");
  await settleDisk();
  const { stdout } = await runScript("folder-floor.ts", [folder, String(count), sample]);
  const tookMs = Number(stdout);
  progress(".");
  return count / (tookMs / 1_000);
}

export async function benchOutbound({ rounds, isQuick, home }: BenchOptions): Promise<Measurement[]> {
  const count = isQuick ? 1_000 : 10_000;
  const many = 10 * count;
  const [own, bare, crowded]: [number[], number[], number[]] = [[], [], []];
  let bytes = 0;
  for (let round = 0; round < rounds; round += 1) {
    const delivered = await deliver(home, count, count);
    bytes = (await stat(delivered.sample)).size;
    bare.push(await bareLoop(count, delivered.sample));
    own.push(delivered.perSecond);
    crowded.push((await deliver(home, many, count)).perSecond);
  }
  const suite = "outbound";
  const unit = "files/s";
  return [
    {
      ...{ suite, what: `${count} completions to a folder, beside a bare write, fsync and rename` },
      ...{ figure: { values: own, unit }, floor: { values: bare, unit }, ratios: ratiosOf(own, bare) },
      wanted: { of: "ratio", is: "at least", limit: 0.5 },
      note: `files of ${bytes} bytes`,
    },
    {
      ...{ suite, what: `the first ${count} of ${many} that wait, beside ${count}` },
      ...{ figure: { values: crowded, unit }, floor: { values: own, unit }, ratios: ratiosOf(crowded, own) },
      wanted: { of: "ratio", is: "at least", limit: 0.9 },
    },
  ];
}
