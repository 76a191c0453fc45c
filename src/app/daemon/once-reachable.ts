/** Waits for a database server that a start cannot reach yet: after a power failure it may come up later than dropgate. */
import { setTimeout as wait } from "node:timers/promises";
import { messageOf } from "../../lib/errors.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { isPassingStoreError } from "../../lib/store-error.ts";
import { minuteMs, secondMs } from "../../lib/durations.ts";

/** Calls `open` each second while it rejects with what passes by itself; each minute the log says why. Rejects when aborted. */
export async function onceReachable<T>(
  open: () => Promise<T>,
  log: Pick<Logger, "warn">,
  signal: AbortSignal,
): Promise<T> {
  let toldAt = Number.NEGATIVE_INFINITY;
  for (;;) {
    try {
      return await open();
    } catch (error) {
      if (!isPassingStoreError(error)) throw error;
      if (performance.now() - toldAt >= minuteMs) {
        log.warn({ message: messageOf(error) }, "the database cannot be used; dropgate starts when it can");
        toldAt = performance.now();
      }
      await wait(secondMs, undefined, { signal });
    }
  }
}
