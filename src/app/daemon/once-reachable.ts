/** Waits for a database server that a start cannot reach yet: after a power failure it may come up later than dropgate. */
import { setTimeout as wait } from "node:timers/promises";
import { messageOf } from "../../lib/errors.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { isPassingStoreError } from "../../lib/store-error.ts";
import { minuteMs, secondMs } from "../../lib/durations.ts";

/** A service manager that hears nothing takes the start for one that has failed. */
export const longestSilenceMs = 2 * minuteMs;

export interface Waiting {
  readonly log: Pick<Logger, "warn">;
  readonly signal: AbortSignal;
  /** Called at once and each minute: the start goes on to wait. */
  readonly stillWaits?: (() => void) | undefined;
}

/** Calls `open` each second while it rejects with what passes by itself; each minute the log says why. Rejects when aborted. */
export async function onceReachable<T>(
  open: () => Promise<T>,
  { log, signal, stillWaits }: Waiting,
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
        stillWaits?.();
      }
      await wait(secondMs, undefined, { signal });
    }
  }
}
