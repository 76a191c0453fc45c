/** The thread that files groups away; see `file-away.ts`. Messages are JSON text: a tenth of the time of a structured clone. */
import { parentPort } from "node:worker_threads";
import { messageOf, systemCodeOf } from "../lib/errors.ts";
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

parentPort?.on("message", (tasks: string) =>
  parentPort?.postMessage(JSON.stringify(run(JSON.parse(tasks) as FilingTask[]))),
);
