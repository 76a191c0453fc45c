/**
 * The files that other nodes have entered for a company, and that are in line here, as long as a transaction may still be told of
 * them as new ones.
 *
 *   told ──put in line──> in line ──some time──> its row removed ──a further removal──> forgotten
 *
 * A unit of work that was begun before a file was in line must not run after the row is removed: it would not be told of it. What
 * it knows is over by then.
 */
import type { KnownArrivals } from "../store/database/fence.ts";

interface InLine {
  /** Which of the calls of `add` it was. */
  readonly turn: number;
  /** By `performance.now()`. */
  readonly at: number;
}

export class ArrivalsInLine {
  /** By the id in the ledger. */
  readonly #files = new Map<number, InLine>();
  #turn = 0;
  /** The last turn of which rows were removed. */
  #removedTurn = 0;
  /** Those whose rows are still to be removed. */
  readonly #toRemove = new Set<number>();
  /** Those whose rows were removed last: a transaction that had begun before has them still. */
  #removed: readonly number[] = [];

  add(fileIds: readonly number[]): void {
    this.#turn += 1;
    const inLine = { turn: this.#turn, at: performance.now() };
    for (const fileId of fileIds) {
      if (!this.#files.has(fileId)) this.#files.set(fileId, inLine);
      this.#toRemove.add(fileId);
    }
  }

  has(fileId: number): boolean {
    return this.#files.has(fileId);
  }

  /** How many rows are still to be removed. */
  get countToRemove(): number {
    return this.#toRemove.size;
  }

  /** Those of files that have been in line for so long; from now on they count as removed. */
  takeRemovable(ms: number): readonly number[] {
    const until = performance.now() - ms;
    const removable: number[] = [];
    for (const fileId of this.#toRemove) {
      const { turn, at } = this.#files.get(fileId) ?? { turn: 0, at: 0 };
      if (at > until) continue;
      removable.push(fileId);
      this.#removedTurn = Math.max(this.#removedTurn, turn);
    }
    return removable;
  }

  /** Their rows are removed. */
  removed(fileIds: readonly number[]): void {
    for (const fileId of this.#removed) this.#files.delete(fileId);
    for (const fileId of fileIds) this.#toRemove.delete(fileId);
    this.#removed = fileIds;
  }

  /** Knows those that are in line at this call. */
  asOfNow(): KnownArrivals {
    const turn = this.#turn;
    return {
      has: (fileId) => (this.#files.get(fileId)?.turn ?? Number.POSITIVE_INFINITY) <= turn,
      isOver: () => this.#removedTurn > turn,
    };
  }
}
