/**
 * The process in which the console has the installation checked, or the ledger verified: its task as an argument, on its output
 * a line for each progress and one for the result. A call to a dead share hangs it alone.
 */
import { loadConfig } from "../../../config/load-config.ts";
import { formatConfigFaults } from "../../../config/reader/config-fault.ts";
import { messageOf } from "../../../lib/errors.ts";
import { secondMs } from "../../../lib/durations.ts";
import { stepBack } from "../../../lib/threads/background-thread.ts";
import { verifyWholeLedger } from "../../admin/ledger-admin.ts";
import { checkAll } from "../../checks/check.ts";
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

async function verify(configFile: string) {
  const loaded = await loadConfig({ path: configFile, env: process.env, cwd: "/", needsSecrets: false });
  if (loaded.kind === "faulty") throw new Error(formatConfigFaults(loaded.faults, configFile));
  let toldMs = Number.NEGATIVE_INFINITY;
  const report = await verifyWholeLedger(loaded.config, {
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

const [text = ""] = process.argv.slice(2);
const { kind, configFile } = JSON.parse(text) as HealthTask;
try {
  const result = kind === "verify" ? await verify(configFile) : await check(configFile);
  tell({ kind: "result", result });
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
}
