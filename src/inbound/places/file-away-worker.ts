/** The thread that files groups away; see `file-away.ts`. */
import { messageOf, systemCodeOf } from "../../lib/errors.ts";
import { serveJson } from "../../lib/threads/hosted-worker.ts";
import { fileGroupAway, type FilingResult, type FilingTask } from "./file-away.ts";

function run(tasks: readonly FilingTask[]): FilingResult[] {
  try {
    return fileGroupAway(tasks);
  } catch (error) {
    const failure = {
      kind: "failed",
      systemCode: systemCodeOf(error) ?? "unknown",
      message: messageOf(error),
    } as const;
    return tasks.map(({ id }) => ({ id, ...failure }));
  }
}

serveJson(run);
