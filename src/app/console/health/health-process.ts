/**
 * The process in which the console has the installation checked, its growth measured, or the ledger verified: its task as an
 * argument, on its output a line for each progress and one for the result. A call to a dead share hangs it alone.
 */
import { loadConfig } from "../../../config/load-config.ts";
import { formatConfigFaults } from "../../../config/reader/config-fault.ts";
import { messageOf } from "../../../lib/errors.ts";
import { secondMs } from "../../../lib/durations.ts";
import { stepBack } from "../../../lib/threads/background-thread.ts";
import { verifyWholeLedger } from "../../admin/ledger-admin.ts";
import { checkAll, checkGrowthAlone } from "../../checks/check.ts";
import { isAboutGrowth } from "../../checks/check-growth.ts";
import type { HealthReport, HealthTask } from "./health-task.ts";

/** More are on the command line: `dropgate ledger verify`. */
const mostDiscrepancies = 50;

stepBack();
// The daemon has ended, and nobody listens any more.
process.stdout.on("error", () => process.exit(1));

function tell(report: HealthReport): void {
  process.stdout.write(`${JSON.stringify(report)}\n`);
}

async function configOf(configFile: string) {
  const loaded = await loadConfig({ path: configFile, env: process.env, cwd: "/", needsSecrets: false });
  if (loaded.kind === "faulty") throw new Error(formatConfigFaults(loaded.faults, configFile));
  return loaded.config;
}

async function verify(configFile: string) {
  const config = await configOf(configFile);
  let toldMs = Number.NEGATIVE_INFINITY;
  const report = await verifyWholeLedger(config, {
    onProgress({ entries, total }) {
      if (performance.now() - toldMs < secondMs) return;
      toldMs = performance.now();
      tell({ kind: "progress", entries, total });
    },
  });
  const { entries, bytes, unproved, discrepancyCount } = report;
  const discrepancies = report.discrepancies.slice(0, mostDiscrepancies);
  return { entries, bytes, unproved, discrepancyCount, discrepancies };
}

/** As `dropgate check`, with those that tell of growth marked. */
async function check(configFile: string) {
  const findings = await checkAll(await loadConfig({ path: configFile, env: process.env, cwd: "/" }));
  return findings.map((finding) => (isAboutGrowth(finding) ? { ...finding, isGrowth: true } : finding));
}

/** The part of a check that tells of growth; it asks the database and the disks, and nobody else. */
async function growth(configFile: string) {
  const findings = await checkGrowthAlone(await configOf(configFile));
  return findings.map((finding) => ({ ...finding, isGrowth: true }));
}

const tasks = { check, growth, verify } as const satisfies Record<HealthTask["kind"], unknown>;

const [text = ""] = process.argv.slice(2);
const { kind, configFile } = JSON.parse(text) as HealthTask;
try {
  tell({ kind: "result", result: await tasks[kind](configFile) });
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
}
