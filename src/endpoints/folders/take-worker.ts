/** The thread that copies and places files; see `take-thread.ts`. */
import { serveJson } from "../../lib/threads/hosted-worker.ts";
import { systemTakeCalls } from "./take-calls.ts";
import { answerOf } from "./take-request.ts";
import type { TakeRequest } from "./take-thread.ts";

serveJson((request: TakeRequest) => answerOf(systemTakeCalls, request));
