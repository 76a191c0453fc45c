/** When the next round over one remote is due: by its schedule, and after trouble by that of retries. */
import { pausedUntil } from "../../domain/outbound/retry-schedule.ts";
import { nextDue } from "../../domain/time/cron-schedule.ts";
import type { PolledRemote, RemoteDeps } from "./remote-deps.ts";

export class RoundSchedule {
  readonly #deps: Pick<RemoteDeps, "clock" | "random">;
  readonly #schedule: PolledRemote["schedule"];
  #isFirst = true;
  /** The end of the last round, by a monotonic clock (`Ms`) and by the wall clock (`At`). */
  #endedMs = performance.now();
  #endedAt: number;
  /** After a round that failed. */
  #pauseMs: number | undefined;

  constructor(deps: Pick<RemoteDeps, "clock" | "random">, schedule: PolledRemote["schedule"]) {
    this.#deps = deps;
    this.#schedule = schedule;
    this.#endedAt = deps.clock.now();
  }

  /** To be called at the end of a round; `failures`: how many have failed in a row. */
  ended(failures: number): void {
    this.#isFirst = false;
    this.#endedMs = performance.now();
    this.#endedAt = this.#deps.clock.now();
    this.#pauseMs =
      failures === 0 ? undefined : pausedUntil({ failures, now: 0, random: this.#deps.random() });
  }

  /** When the last round ended, and until when the remote rests, or 0. */
  get standing(): { readonly polledAt: number; readonly pausedUntil: number } {
    const polledAt = this.#endedAt;
    return { polledAt, pausedUntil: this.#pauseMs === undefined ? 0 : polledAt + this.#pauseMs };
  }

  /** After trouble the pause counts: it may end before the next round of a cron schedule, or after a short interval. */
  waitMs(): number {
    const schedule = this.#schedule;
    const sinceMs = performance.now() - this.#endedMs;
    const pausedMs = this.#pauseMs === undefined ? undefined : this.#pauseMs - sinceMs;
    if (schedule.kind === "every") {
      const everyMs = this.#isFirst ? 0 : schedule.everyMs;
      return Math.max(everyMs - sinceMs, pausedMs ?? 0);
    }
    const now = this.#deps.clock.now();
    this.#endedAt = Math.min(this.#endedAt, now); // the clock may have been put back
    const dueMs = nextDue(schedule.cron, schedule.zone, this.#endedAt) - now;
    return Math.min(dueMs, pausedMs ?? dueMs);
  }
}
