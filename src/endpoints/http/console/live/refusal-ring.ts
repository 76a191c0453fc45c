/**
 * The refusals of this run, the newest of them: what a viewer has missed who comes back.
 *
 * An entry that is refused again is there once, as the newest. Whoever knows it as an older one does not find its place any
 * more, and reads the page anew.
 */
import { randomBytes } from "node:crypto";
import type { Refusal } from "./standing.ts";

/** Some 200 kB. */
const mostKept = 500;

export class RefusalRing {
  /** In the order in which they were decided. */
  readonly #kept = new Map<string, Refusal>();
  /** Stands for "none yet", in this run alone. */
  readonly #noneYet = `-${randomBytes(6).toString("hex")}`;
  #isWhole = true;

  add(refusal: Refusal): void {
    this.#kept.delete(refusal.reference);
    this.#kept.set(refusal.reference, refusal);
    if (this.#kept.size <= mostKept) return;
    this.#isWhole = false;
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined) this.#kept.delete(oldest);
  }

  /** The place of the newest one of these companies, its reference; another one when there is none. */
  newestOf(companyIds: ReadonlySet<number>): string {
    const newest = [...this.#kept.values()].findLast(({ companyId }) => companyIds.has(companyId));
    return newest?.reference ?? this.#noneYet;
  }

  /**
   * Those of the companies that came after a place, oldest first. Undefined when it cannot be told, because the place is not
   * known any more.
   */
  after(place: string, companyIds: ReadonlySet<number>): readonly Refusal[] | undefined {
    const own = [...this.#kept.values()].filter(({ companyId }) => companyIds.has(companyId));
    if (place === this.#noneYet) return this.#isWhole ? own : undefined;
    const known = own.findIndex(({ reference }) => reference === place);
    return known === -1 ? undefined : own.slice(known + 1);
  }
}
