/**
 * Retention of a ledger of years beside 20 files a second: what a host waits for the receipt of its file while a day of files,
 * receipts, entries, events and documents is pruned. The daemon does it by itself after a start, and `dropgate prune` beside
 * it, in turn; time without a pass comes after each, so that what else the machine does counts for both. Processor time and
 * the lag of the daemon's event loop tell what is the pass's own. At the end the ledger is verified, and what is asked of it
 * meanwhile is timed too. Exit code 1 when one file of a hundred waits longer than 100 ms, a pass removes nothing, or the
 * ledger is not right.
 *
 *   node test/nightly/retention.ts [--rows 10000000] [--day 27000] [--rounds 2] [--move]
 */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type DaemonRun, program, Site } from "../support/daemon.ts";
import { runProgram } from "../support/run-program.ts";
import { type AgedStatePlan, agesOfPass, plantAgedState } from "./aged-state.ts";
import { childrenCpuSeconds, observe, startSteadyHost } from "./observed-host.ts";
import type { SteadyHostProcess } from "./steady-host.ts";

const mostMs = 100;
const quietMs = 20_000;
const mostPassMs = 30 * 60_000;
/** Far apart, so that no two hosts send the same file. */
const serialsOfHost = 100_000;

interface Measured {
  readonly site: Site;
  readonly host: SteadyHostProcess;
}

function fail(why: string): void {
  console.log(why);
  process.exitCode = 1;
}

/** Runs a command and prints how long it took. Gives what it printed. */
async function timed(site: Site, ...args: readonly string[]): Promise<string> {
  const [begun, cpuBefore] = [performance.now(), childrenCpuSeconds()];
  const command = [...args, "--config", site.configFile];
  const { output, stdout, exitCode } = await runProgram(program, command, { timeoutMs: mostPassMs });
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
  const cpu = (childrenCpuSeconds() - cpuBefore).toFixed(1);
  console.log(`dropgate ${args.join(" ")}: ${seconds} s, ${cpu} of processor time, exit code ${exitCode}`);
  if (exitCode !== 0) console.log(output);
  return stdout;
}

async function observed(measured: Measured, what: string, act: () => Promise<unknown>): Promise<number> {
  const { p99, faults } = await observe({ ...measured, what }, act);
  if (faults.length > 0) fail(`${faults.length} files got no receipt`);
  return p99;
}

/** The same beside time in which nothing is done: figures of a machine that is too busy say nothing about the program. */
async function compared(measured: Measured, what: string, act: () => Promise<unknown>): Promise<void> {
  const beside = await observed(measured, `beside ${what}`, act);
  const pause = () => new Promise((resolve) => setTimeout(resolve, quietMs));
  const without = await observed(measured, "without", pause);
  if (beside > mostMs) fail(`beside ${what} one file of a hundred waited longer than ${mostMs} ms`);
  if (without > mostMs) console.log("without it too: the machine is too busy for this figure");
}

/** Until the pass that the daemon has begun after its start is over. */
async function passOfDaemon(daemon: DaemonRun): Promise<void> {
  const { pruned, bytes, msg } = await daemon.waitForLog(
    (line) => line.msg === "what was too old was removed" || line.msg.startsWith("what is too old cannot"),
    mostPassMs,
  );
  if (pruned === undefined) fail(msg);
  console.log(`the daemon has removed ${JSON.stringify(pruned)}, ${String(bytes)} bytes`);
  for (const line of daemon.log.filter(({ level }) => level !== "info")) console.log(JSON.stringify(line));
  for (const { kind, msg: more } of daemon.log.filter((line) => line.msg.startsWith("there is more")))
    console.log(`${String(kind)}: ${more}`);
}

async function passOfCommand(site: Site): Promise<void> {
  const { amounts } = JSON.parse(await timed(site, "prune", "--json")) as {
    readonly amounts: readonly { readonly kind: string; readonly count: number }[];
  };
  console.log(amounts.map(({ kind, count }) => `${kind} ${count}`).join(", "));
  for (const kind of ["archive", "receipts", "ledger", "events", "documents"])
    if (!amounts.some((amount) => amount.kind === kind && amount.count > 0))
      fail(`nothing of ${kind} was removed`);
}

/** A pass by the daemon, a day later a pass by the command. */
async function round({ site, plan, moveTo }: Run, nth: number): Promise<void> {
  const configure = (pass: number) =>
    site.configure({ retention: { ...agesOfPass(plan, pass), ...(moveTo === undefined ? {} : { moveTo }) } });
  await configure(2 * nth);
  const daemon = await site.start();
  const host = await startSteadyHost(site, 1 + nth * serialsOfHost);
  const measured = { site, host };
  await compared(measured, "a pass of the daemon", () => passOfDaemon(daemon));
  await configure(2 * nth + 1);
  await compared(measured, "`dropgate prune`", () => passOfCommand(site));
  if (nth === 0) await compared(measured, "`ledger verify`", () => timed(site, "ledger", "verify"));
  host.end();
  console.log(`memory of the daemon: ${(await daemon.memoryMb()).peak.toFixed(0)} MiB at most`);
  await site.stop();
}

interface Run {
  readonly site: Site;
  readonly plan: AgedStatePlan;
  readonly moveTo: string | undefined;
}

/** Without a daemon, so that each entry is in its place. */
async function verify(site: Site): Promise<void> {
  const report = JSON.parse(await timed(site, "ledger", "verify", "--json")) as {
    readonly entries: number;
    readonly pruned: number;
    readonly discrepancyCount: number;
  };
  console.log(`${report.entries} entries, the bytes of ${report.pruned} were pruned`);
  if (report.discrepancyCount > 0) fail(`the ledger has ${report.discrepancyCount} discrepancies`);
}

const { values } = parseArgs({
  options: {
    ...{ rows: { type: "string" }, day: { type: "string" }, rounds: { type: "string" } },
    move: { type: "boolean" },
  },
});
const rounds = Number(values.rounds ?? 2);
const plan: AgedStatePlan = {
  ...{ rows: Number(values.rows ?? 10_000_000), perDay: Number(values.day ?? 27_000), passes: 2 * rounds },
};
const site = await Site.make();
try {
  const begun = performance.now();
  await plantAgedState(site, plan);
  execFileSync("sync");
  console.log(`${plan.rows} entries planted in ${((performance.now() - begun) / 1_000).toFixed(0)} s`);
  const moveTo = values.move === true ? join(site.folder, "old") : undefined;
  if (moveTo !== undefined) mkdirSync(moveTo);
  for (let nth = 0; nth < rounds; nth += 1) await round({ site, plan, moveTo }, nth);
  for (const args of [["prune", "--dry-run"], ["check"]]) await timed(site, ...args);
  await verify(site);
} finally {
  await site.end();
}
