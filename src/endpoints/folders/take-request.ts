/** What the thread that copies and places files answers to a request. */
import { copyFiles } from "./copy-files.ts";
import { placeFiles } from "./place-files.ts";
import { systemFaultOf, type TakeCalls } from "./take-calls.ts";
import type { TakeAnswer, TakeRequest } from "./take-thread.ts";

/** Never throws. */
export function answerOf(calls: TakeCalls, request: TakeRequest): TakeAnswer {
  try {
    return request.kind === "copy"
      ? { kind: "copy", outcomes: copyFiles(calls, request) }
      : { kind: "place", outcomes: placeFiles(calls, request) };
  } catch (error) {
    return { kind: "failed", fault: systemFaultOf(error) };
  }
}
