/**
 * The files that other nodes have entered for a company, and that are in line here, as long as a transaction may still be told of
 * them as new ones.
 *
 *   told ──put in line──> in line ──what was begun before has ended──> its row removed ──a further removal──> forgotten
 *
 * Transactions of this node tell of them, beside the looks that are for nothing else.
 *
 * A unit of work that was begun before a file was in line has to be told of it, so that it does not run before it: until then the
 * row stays.
 */
import type { KnownArrivals, ToldArrivals } from "../store/database/fence.ts";

export class ArrivalsInLine {
  /** By the id in the ledger, which of the calls of `add` it was. */
  readonly #turns = new Map<number, number>();
  #turn = 0;
  /** How many of the units of work that are under way were begun at each turn. */
  readonly #begun = new Map<number, number>();
  /** Those that a transaction has told of, and that are not in line. */
  readonly #missing = new Set<number>();
  #areMore = false;
  #toldAt = Number.NEGATIVE_INFINITY;
  /** Those whose rows are still to be removed. */
  readonly #toRemove = new Set<number>();
  /** Those whose rows were removed last: a transaction that had begun before has them still. */
  #removed: readonly number[] = [];

  add(fileIds: readonly number[]): void {
    this.#turn += 1;
    for (const fileId of fileIds) {
      if (!this.#turns.has(fileId)) this.#turns.set(fileId, this.#turn);
      this.#toRemove.add(fileId);
      this.#missing.delete(fileId);
    }
  }

  /** What the lock of the lane has told last. */
  tell({ arrivals, areMore }: ToldArrivals): void {
    this.#toldAt = performance.now();
    this.#areMore = areMore;
    for (const { fileId } of arrivals) if (!this.has(fileId)) this.#missing.add(fileId);
  }

  /** Whether a transaction has told of all within so many milliseconds. */
  isTold(ms: number): boolean {
    return !this.#areMore && performance.now() - this.#toldAt < ms;
  }

  /** Those that were told and are not in line; undefined when not all were told. */
  get missing(): readonly number[] | undefined {
    return this.#areMore ? undefined : [...this.#missing];
  }

  has(fileId: number): boolean {
    return this.#turns.has(fileId);
  }

  /** How many rows are still to be removed. */
  get countToRemove(): number {
    return this.#toRemove.size;
  }

  /** Those whose rows nobody needs any more. */
  get removable(): readonly number[] {
    const oldest = Math.min(...this.#begun.keys());
    return [...this.#toRemove].filter((fileId) => (this.#turns.get(fileId) ?? 0) <= oldest);
  }

  /** Their rows are removed. */
  removed(fileIds: readonly number[]): void {
    for (const fileId of this.#removed) this.#turns.delete(fileId);
    for (const fileId of fileIds) this.#toRemove.delete(fileId);
    this.#removed = fileIds;
  }

  /** Knows those that are in line at this call. */
  begin(): KnownArrivals {
    const turn = this.#turn;
    this.#begun.set(turn, (this.#begun.get(turn) ?? 0) + 1);
    let isEnded = false;
    return {
      has: (fileId) => (this.#turns.get(fileId) ?? Number.POSITIVE_INFINITY) <= turn,
      end: () => {
        if (isEnded) return;
        isEnded = true;
        const left = (this.#begun.get(turn) ?? 0) - 1;
        if (left > 0) this.#begun.set(turn, left);
        else this.#begun.delete(turn);
      },
    };
  }
}
