/** What is to be told to other nodes next. A flood of guesses makes no flood of rows: points of one peer and name are one row. */
import type { CountedFailure, FailureWatch } from "./failure-watch.ts";

/** Further ones are counted here alone until there is room. */
const mostFailures = 1_000;
const mostBans = 1_000;

export class GatheredFailures implements FailureWatch {
  #failures = new Map<string, CountedFailure>();
  #banned = new Set<string>();

  get isEmpty(): boolean {
    return this.#failures.size === 0 && this.#banned.size === 0;
  }

  counted(failure: CountedFailure): void {
    const key = `${failure.peer} ${failure.subject ?? ""}`;
    const before = this.#failures.get(key);
    if (before === undefined && this.#failures.size >= mostFailures) return;
    // The first time, so that the order of the rows is that of their times.
    const at = before?.at ?? failure.at;
    this.#failures.set(key, { ...failure, at, points: failure.points + (before?.points ?? 0) });
  }

  banned(key: string): void {
    if (this.#banned.size < mostBans) this.#banned.add(key);
  }

  lifted(key: string): void {
    this.#banned.delete(key);
  }

  /** At most so many of each, those that came first. */
  take(limit: number): { readonly failures: readonly CountedFailure[]; readonly banned: readonly string[] } {
    const failures = [...this.#failures].slice(0, limit);
    const banned = [...this.#banned].slice(0, limit);
    for (const [key] of failures) this.#failures.delete(key);
    for (const key of banned) this.#banned.delete(key);
    return { failures: failures.map(([, failure]) => failure), banned };
  }
}
