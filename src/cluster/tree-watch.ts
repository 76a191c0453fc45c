/**
 * Whether the tree of folders answers. A node that has no tree can do none of the work of its companies, and must not keep
 * them by saying that it is there: it renews nothing, and others go on when its leases are over. Calls into a tree that hangs
 * never come back, so the next one is made only after the last has.
 */
export class TreeWatch {
  readonly #ask: () => Promise<void>;
  readonly #patienceMs: number;
  #answeredAt = performance.now();
  #isAsking = false;

  /** `ask` resolves when the tree answers as it should; one that rejects is no answer. */
  constructor(ask: () => Promise<void>, patienceMs: number) {
    this.#ask = ask;
    this.#patienceMs = patienceMs;
  }

  /** Asks, unless the last question is still open. */
  look(): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    void this.#look();
  }

  /** Why this node cannot work, with the remedy; undefined while the tree answers. */
  get fault(): string | undefined {
    const silentMs = performance.now() - this.#answeredAt;
    if (silentMs <= this.#patienceMs) return undefined;
    return (
      `the state directory has not answered for ${Math.round(silentMs / 1_000)} s: its companies go to other nodes; ` +
      "see to its file system, and mount it again"
    );
  }

  async #look(): Promise<void> {
    try {
      await this.#ask();
      this.#answeredAt = performance.now();
    } catch {
      // Not there, or not readable: `fault` tells it when it lasts.
    } finally {
      this.#isAsking = false;
    }
  }
}
