/** Long work of a command beside a daemon: both write to one database, and the daemon's clients wait for it. */
import { setTimeout as wait } from "node:timers/promises";
import type { Store } from "../../store/database/database.ts";

const leastPauseMs = 5;

export interface Pausing {
  /** Milliseconds of a clock that is never set. */
  readonly now: () => number;
  readonly pause: (ms: number) => Promise<unknown>;
}

const usual: Pausing = { now: () => performance.now(), pause: wait };

/**
 * The same store, that rests after each write for as long as that took: SQLite gives the database to whoever asks first, and
 * a process that asks again at once would keep it from the daemon.
 */
export function considerateStore(
  { read, write }: Pick<Store, "read" | "write">,
  { now, pause }: Pausing = usual,
): Pick<Store, "read" | "write"> {
  return {
    read,
    async write(whose, work) {
      const begun = now();
      const result = await write(whose, work);
      await pause(Math.max(leastPauseMs, now() - begun));
      return result;
    },
  };
}
