/** The thread that files groups away, and changes names beside that; see `filing-thread.ts`. */
import { messageOf, systemCodeOf } from "../../lib/errors.ts";
import { serveJson } from "../../lib/threads/hosted-worker.ts";
import { fileGroupAway, type FilingResult, type FilingTask } from "./file-away.ts";
import type { FilingAnswer, FilingRequest } from "./filing-thread.ts";
import { makeSharedChange } from "./shared-changes.ts";

function fileAway(tasks: readonly FilingTask[]): readonly FilingResult[] {
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

serveJson(
  ({ tasks, changes }: FilingRequest): FilingAnswer => ({
    ends: changes.map(makeSharedChange),
    results: fileAway(tasks),
  }),
);
