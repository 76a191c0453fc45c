/**
 * The files that other nodes have entered for a company, and that are in line here, as long as a transaction may still be told of
 * them as new ones.
 *
 *   told ──put in line──> in line ──its row removed──> removed ──a further removal──> forgotten
 */
import type { KnownArrivals } from "../store/database/fence.ts";

export class ArrivalsInLine {
  /** By the id in the ledger, the turn in which the file was put in line. */
  readonly #turns = new Map<number, number>();
  #turn = 0;
  /** Those whose rows are still to be removed. */
  readonly #toRemove = new Set<number>();
  /** Those whose rows were removed last: a transaction that had begun before has them still. */
  #removed: readonly number[] = [];

  add(fileIds: readonly number[]): void {
    this.#turn += 1;
    for (const fileId of fileIds) {
      if (!this.#turns.has(fileId)) this.#turns.set(fileId, this.#turn);
      this.#toRemove.add(fileId);
    }
  }

  has(fileId: number): boolean {
    return this.#turns.has(fileId);
  }

  get toRemove(): readonly number[] {
    return [...this.#toRemove];
  }

  /** Their rows are removed. */
  removed(fileIds: readonly number[]): void {
    for (const fileId of this.#removed) this.#turns.delete(fileId);
    for (const fileId of fileIds) this.#toRemove.delete(fileId);
    this.#removed = fileIds;
  }

  /** Knows those that are in line at this call. */
  asOfNow(): KnownArrivals {
    const turn = this.#turn;
    return (fileId) => (this.#turns.get(fileId) ?? Number.POSITIVE_INFINITY) <= turn;
  }
}
