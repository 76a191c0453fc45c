/**
 * How long the first units of a group wait for others to share its commit with.
 *
 * Units of the same turn of the event loop share a commit. When they are several, those of the next turns join them as long
 * as each turn brings more: else many clients fall into two groups that wait for one another's commits.
 *
 * With a database server a group of one costs as many round trips as one of many. Clients that were answered together ask
 * again one after the other, over some milliseconds: the first of them would go alone, and all others wait for it. So a
 * group that follows others at once waits until it is as large as the larger of the last two, but only for a small part of
 * the time that these took.
 */
import { setImmediate } from "node:timers/promises";
import { sleep } from "../../../lib/sleep.ts";

/** Writers that answer one another must not delay a commit for ever. */
const maxTurns = 8;
const partOfDuration = 1 / 4;
/** A group may have taken long because the server was away. */
const mostWaitMs = 50;

interface Group {
  /** Without those that went along and could wait: no others come after them. */
  readonly units: number;
  readonly durationMs: number;
}

const none: Group = { units: 0, durationMs: 0 };

export class Gathering {
  readonly #maxUnits: number;
  /** The last two, the newer one first. */
  #before: readonly [Group, Group] = [none, none];
  #endedAt = Number.NEGATIVE_INFINITY;
  #wait: AbortController | undefined;
  #wanted = 0;

  /** No group is larger. */
  constructor(maxUnits: number) {
    this.#maxUnits = maxUnits;
  }

  /** Notes a group that a database server has committed. */
  noteGroup(group: Group): void {
    this.#before = [group, this.#before[0]];
    this.#endedAt = performance.now();
  }

  /** To be called when so many wait. */
  noteWaiting(count: number): void {
    if (count >= this.#wanted) this.#wait?.abort();
  }

  /** Resolves when the next group may go; `count` tells how many wait for it. */
  async gather(count: () => number): Promise<void> {
    for (let turn = 0; turn < maxTurns; turn += 1) {
      const before = count();
      // Between two groups others get their turn too.
      await setImmediate();
      if (count() >= this.#maxUnits) return;
      if (count() === before) break;
    }
    await this.#likeThoseBefore(count());
  }

  async #likeThoseBefore(count: number): Promise<void> {
    const [last, other] = this.#before;
    if (performance.now() - this.#endedAt > last.durationMs) return;
    this.#wanted = Math.min(Math.max(last.units, other.units), this.#maxUnits);
    if (count >= this.#wanted) return;
    const waitMs = Math.min(Math.max(last.durationMs, other.durationMs) * partOfDuration, mostWaitMs);
    this.#wait = new AbortController();
    await sleep(waitMs, this.#wait.signal);
    this.#wait = undefined;
  }
}
