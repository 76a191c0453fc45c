/** The time for which the answer to a wrong password is held back. */
import { setTimeout as delay } from "node:timers/promises";

/** Resolves after so many milliseconds, or at once when the signal aborts. Does not keep the process alive. */
export async function waitForTimer(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    // Unreferenced: a delayed answer does not delay the end of the process.
    await delay(ms, undefined, signal === undefined ? { ref: false } : { ref: false, signal });
  } catch (error) {
    // Aborted: nobody waits for the answer any more.
    if (signal?.aborted !== true) throw error;
  }
}
