/** The process that makes one backup for the daemon (`src/app/watch/backup-schedule.ts`): its task as an argument, the report on its output. */
import { messageOf } from "../../lib/errors.ts";
import { given } from "../../lib/given.ts";
import { stepBack, stepsFarBack } from "../../lib/threads/background-thread.ts";
import type { BackupReport, BackupTask } from "../watch/backup-schedule.ts";
import { backUp } from "./backup-admin.ts";

stepBack(stepsFarBack);
const [text = ""] = process.argv.slice(2);
const { config, request } = JSON.parse(text) as BackupTask;
try {
  const { notRemoved, leftOut, warnings, ...made } = await backUp(config, request);
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
