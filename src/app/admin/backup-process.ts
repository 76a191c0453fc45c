/**
 * The process that makes one backup for the daemon (`src/app/watch/backup-process-watch.ts`): its task as an argument; on its
 * output a line break for each progress, then the report.
 */
import { messageOf } from "../../lib/errors.ts";
import { given } from "../../lib/given.ts";
import { stepBack, stepsFarBack } from "../../lib/threads/background-thread.ts";
import { secondMs } from "../../lib/durations.ts";
import type { BackupReport, BackupTask } from "../watch/backup-task.ts";
import { backUp } from "./backup-admin.ts";

stepBack(stepsFarBack);
// The daemon has ended, and nobody listens any more: the backup is good all the same.
process.stdout.on("error", () => undefined);
const reportedEachMs = secondMs;
let reportedMs = Number.NEGATIVE_INFINITY;

function reportProgress(): void {
  if (performance.now() - reportedMs < reportedEachMs) return;
  reportedMs = performance.now();
  process.stdout.write("\n");
}

const [text = ""] = process.argv.slice(2);
const { config, request } = JSON.parse(text) as BackupTask;
try {
  const { notRemoved, leftOut, warnings, ...made } = await backUp(config, {
    ...request,
    onProgress: reportProgress,
  });
  const { folder, files, bytes, shared, removed, discrepancies } = made;
  const report: BackupReport = {
    ...{ folder, files, bytes, shared, removed, discrepancies },
    ...given({ notRemoved }),
    warnings: [...warnings, ...leftOut.map((why) => `not in the backup: ${why}`)],
  };
  process.stdout.write(JSON.stringify(report));
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
}
