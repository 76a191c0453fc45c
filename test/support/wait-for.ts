import { setTimeout as pause } from "node:timers/promises";

/** How long tests wait for what has to come: a bound for what hangs, on a machine that is busy with others too. */
export const patienceMs = 300_000;
const pollMs = 20;

/** Looks again and again until there is an outcome; undefined and false are none. Rejects at the deadline, in words. */
export async function waitFor<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs = patienceMs,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`not seen within ${timeoutMs} ms: ${what}`);
    await pause(pollMs);
  }
}
