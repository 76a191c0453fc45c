import { setTimeout as pause } from "node:timers/promises";

/** How long tests wait for what has to come: a bound for what hangs, on a machine that is busy with others too. */
export const patienceMs = 300_000;
const shortestPauseMs = 5;
const longestPauseMs = 100;

/**
 * Looks again and again until there is an outcome; undefined and false are none. Rejects at the deadline, in words. What has
 * been waited for long is looked at less often: each look costs a process that others could use.
 */
export async function waitFor<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs = patienceMs,
): Promise<T> {
  const begin = performance.now();
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    const waitedMs = performance.now() - begin;
    if (waitedMs > timeoutMs) throw new Error(`not seen within ${timeoutMs} ms: ${what}`);
    await pause(Math.min(longestPauseMs, Math.max(shortestPauseMs, waitedMs / 10)));
  }
}
