/**
 * One hurts only itself: a well-behaved company sends 10 files a second over SFTP, and beside it, one after the other, come
 * inputs that are made to hurt, of another company and of its own.
 *
 *   node test/nightly/hostile-inputs.ts [--only WORDS] [--wanted 500]      after `npm run build`
 *
 * Prints a row for each: the time of the well-behaved company's files from their answered close to their receipt, and from
 * when they were due, beside the quiet row. Ends with 1 when the 99th percentile of one of them is over what is wanted, a
 * file was not answered, or the ledger is wrong.
 */
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { quantileOf } from "../../bench/support/measurement.ts";
import { messageOf } from "../../src/lib/errors.ts";
import { damageTable } from "../support/damage-database.ts";
import { attackers, HostileGround } from "../support/hostile-ground.ts";
import { damagedPageRow, fillPages, type HostileRow, hostileRows, isDamagedPage } from "./hostile-rows.ts";
import { type SteadyReport, SteadyHostProcess } from "./steady-host.ts";

const { values } = parseArgs({
  options: { only: { type: "string", default: "" }, wanted: { type: "string", default: "500" } },
});
const wantedMs = Number(values.wanted);
const ratePerSecond = 10;
/** A row lasts at least so long, so that its 99th percentile is more than one unlucky file. */
const leastMs = 12_000;

const quiet: HostileRow = {
  name: "quiet",
  attacker: attackers.other,
  keepsOwnFilesWaiting: false,
  async run() {
    return "";
  },
};

const faults: string[] = [];

const widths = [62, 7, 9, 9, 9, 9, 9] as const;

function printLine(cells: readonly (string | number)[], note: string): void {
  const [name = "", ...figures] = cells.map(String);
  const rest = figures.map((cell, index) => cell.padStart(widths[index + 1] ?? 9)).join("");
  console.log(`${name.padEnd(widths[0])}${rest}  ${note}`);
}

/** Prints the row; gives what is wrong with it. */
function printRow(
  row: HostileRow,
  { timings, faults: failed }: SteadyReport,
  outcome: string,
): string | undefined {
  const receipt = timings.map(({ closeToReceiptMs }) => closeToReceiptMs);
  const due = timings.map(({ dueToReceiptMs }) => dueToReceiptMs);
  const figures = [receipt, due].flatMap((all) =>
    [0.5, 0.99].map((share) => Math.round(quantileOf(all, share))),
  );
  const [, receiptP99 = Number.NaN, , dueP99 = Number.NaN] = figures;
  const isOver = !(receiptP99 < wantedMs && dueP99 < wantedMs);
  const verdict = row.keepsOwnFilesWaiting ? "own order" : isOver ? "OVER" : "";
  printLine([row.name, timings.length, ...figures, verdict], outcome);
  if (failed.length > 0) return `${failed.length} files without receipt, ${failed[0]}`;
  if (verdict !== "OVER") return undefined;
  return `99th percentile ${receiptP99} ms after the close, ${dueP99} ms after it was due`;
}

/** A machine that is busy with something else for a moment says nothing: a row that is over is taken once more. */
async function takeRow(ground: HostileGround, host: SteadyHostProcess, row: HostileRow): Promise<void> {
  if ((await takeOnce(ground, host, row)) === undefined) return;
  const again = await takeOnce(ground, host, row);
  if (again !== undefined) faults.push(`${row.name}: ${again}`);
}

async function takeOnce(
  ground: HostileGround,
  host: SteadyHostProcess,
  row: HostileRow,
): Promise<string | undefined> {
  // What is left of the row before is not counted.
  await pause(1_000);
  await host.report();
  const begun = performance.now();
  const outcome = await row.run(ground).catch((error: unknown) => {
    faults.push(`${row.name}: ${messageOf(error)}`);
    return `FAILED: ${messageOf(error).slice(0, 200)}`;
  });
  const seconds = (performance.now() - begun) / 1_000;
  await pause(Math.max(0, leastMs - seconds * 1_000));
  return printRow(row, await host.report(), `${outcome} (${seconds.toFixed(1)} s)`);
}

const serialsOfStart = 1_000_000;
let starts = 0;

async function takeRows(ground: HostileGround, rows: readonly HostileRow[]): Promise<void> {
  starts += 1;
  const firstSerial = starts * serialsOfStart;
  const host = await SteadyHostProcess.start({ ...ground.steadyHost, ratePerSecond, firstSerial });
  try {
    // Code and caches are warm in a server that runs for months.
    await pause(5_000);
    for (const row of rows) await takeRow(ground, host, row);
    await host.report();
  } finally {
    host.end();
  }
}

const isWanted = ({ name }: HostileRow) => name.includes(values.only);

async function verifyLedger({ site }: HostileGround): Promise<void> {
  const { exitCode, output } = await site.cli("ledger", "verify");
  if (exitCode !== 0) faults.push(`ledger verify: ${output}`);
}

async function takeDamagedRows(ground: HostileGround): Promise<void> {
  const { site } = ground;
  await site.stop();
  const damaged = damageTable(join(site.stateDir, "dropgate.db"), "stops", isDamagedPage);
  if (damaged !== 1) throw new Error(`${damaged} pages were damaged instead of one`);
  await site.start();
  await takeRows(ground, [damagedPageRow]);
}

const ground = await HostileGround.make();
try {
  await fillPages(ground, attackers.other);
  printLine(["", "files", "p50", "p99", "due p50", "due p99", ""], "");
  await takeRows(ground, [quiet, ...hostileRows.filter(isWanted)]);
  await verifyLedger(ground);
  if (isWanted(damagedPageRow)) await takeDamagedRows(ground);
} finally {
  await ground.end();
}
console.log(faults.length === 0 ? "\none hurts only itself" : `\nNOT SO:\n  ${faults.join("\n  ")}`);
process.exitCode = faults.length === 0 ? 0 : 1;
