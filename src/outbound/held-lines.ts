/** The lines of which a delivery is being tried or recorded: one at a time of each. */
export class HeldLines {
  /** Whether another one of the line was wanted meanwhile. */
  readonly #wanted = new Map<string, boolean>();

  /** False when one of the line is held. */
  take(orderKey: string): boolean {
    const isFree = !this.#wanted.has(orderKey);
    this.#wanted.set(orderKey, !isFree);
    return isFree;
  }

  /** Whether another one was wanted meanwhile: it is to be looked for again. */
  release(orderKey: string): boolean {
    const isWanted = this.#wanted.get(orderKey) === true;
    this.#wanted.delete(orderKey);
    return isWanted;
  }
}
