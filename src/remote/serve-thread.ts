import { parentPort } from "node:worker_threads";
import type { ThreadState } from "./session-thread.ts";

/** In a thread of its owner (`session-thread.ts`): takes messages from here on, and says that it is loaded. */
export function serveThread<To>(receive: (message: To) => void): void {
  parentPort?.on("message", receive);
  // In a turn of its own: a thread may be ended from here on, and must not be while its modules are being evaluated.
  setImmediate(() => parentPort?.postMessage({ kind: "ready" } satisfies ThreadState));
}
