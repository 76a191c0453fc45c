/** The thread that copies and places files; see `take-thread.ts`. */
import { parentPort } from "node:worker_threads";
import { systemTakeCalls } from "./take-calls.ts";
import { answerOf } from "./take-request.ts";
import type { TakeRequest } from "./take-thread.ts";

parentPort?.on("message", (text: string) =>
  parentPort?.postMessage(JSON.stringify(answerOf(systemTakeCalls, JSON.parse(text) as TakeRequest))),
);
