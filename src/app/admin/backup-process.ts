/**
 * The process that makes one backup for the daemon (`src/app/watch/backup-process-watch.ts`): its task as an argument; on its
 * output a line break for each progress, a report when the backup is whole, and another when older ones are removed.
 */
import { messageOf } from "../../lib/errors.ts";
import { given } from "../../lib/given.ts";
import { stepBack, stepsFarBack } from "../../lib/threads/background-thread.ts";
import { secondMs } from "../../lib/durations.ts";
import type { BackupReport, BackupTask } from "../watch/backup-task.ts";
import { type BackupOutcome, backUp } from "./backup-admin.ts";

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

/** What was made, in a line of its own. */
function reportMade({ notRemoved, leftOut, warnings, ...made }: BackupOutcome): void {
  const { folder, files, bytes, shared, removed, discrepancies } = made;
  const report: BackupReport = {
    ...{ folder, files, bytes, shared, removed, discrepancies },
    ...given({ notRemoved }),
    warnings: [...warnings, ...leftOut.map((why) => `not in the backup: ${why}`)],
  };
  process.stdout.write(`${JSON.stringify(report)}\n`);
}

const [text = ""] = process.argv.slice(2);
const { config, request } = JSON.parse(text) as BackupTask;
try {
  // Twice, so that it counts as made when this process dies while older ones are removed.
  reportMade(await backUp(config, { ...request, onProgress: reportProgress, onMade: reportMade }));
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
}
