/** The messages of a thread to its `WorkerHost`, beside its own. */
import { parentPort } from "node:worker_threads";

/** The message; no other message of a thread is this text. */
export const loadedMessage = "loaded";

/** With this code a thread, or a process, ends itself because it is over its memory. */
export const memoryExitCode = 91;

/** To be called when the thread has loaded all of its modules, the first time or again. */
export function tellLoaded(): void {
  // In a turn of its own: from here on the thread may be ended, and it must not be while its modules are evaluated.
  setImmediate(() => parentPort?.postMessage(loadedMessage));
}

/** What a `JsonThread` is asked: JSON text, and bytes that belong to it. */
export interface JsonRequest {
  readonly text: string;
  readonly bytes: Uint8Array;
}

/** The thread of a `JsonThread`: answers each message with what `answerTo` makes of it. */
export function serveJson<Request>(answerTo: (request: Request, bytes: Uint8Array) => unknown): void {
  parentPort?.on("message", async (message: string | JsonRequest) => {
    const { text, bytes } = typeof message === "string" ? { text: message, bytes: noBytes } : message;
    parentPort?.postMessage(JSON.stringify(await answerTo(JSON.parse(text) as Request, bytes)));
  });
  tellLoaded();
}

const noBytes = new Uint8Array();
