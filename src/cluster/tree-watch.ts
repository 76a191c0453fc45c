/**
 * Whether the tree of folders answers. A node that has no tree can do none of the work of its companies, and must not keep
 * them by saying that it is there: it renews nothing from the moment on at which an answer is late, and others go on when its
 * leases are over. Calls into a tree that hangs never come back, so the next one is made only after the last has.
 */

/** How long an answer of the tree is waited for. */
export interface TreePatience {
  /** So long may an answer take, in milliseconds; leases are not renewed while one takes longer. */
  readonly answerMs: number;
  /** After so long without an answer the tree is a fault of this node, in milliseconds. */
  readonly faultMs: number;
}

export class TreeWatch {
  readonly #ask: () => Promise<void>;
  readonly #patience: TreePatience;
  #answeredAt = performance.now();
  #askedAt = 0;
  #isAsking = false;
  #wasAnswered = true;

  /** `ask` resolves when the tree answers as it should; one that rejects is no answer. */
  constructor(ask: () => Promise<void>, patience: TreePatience) {
    this.#ask = ask;
    this.#patience = patience;
  }

  /**
   * Asks, unless the last question is still open. Gives whether the tree can be relied on now: it answered the last question,
   * or has not had the time to.
   */
  look(): boolean {
    if (this.#isAsking) return performance.now() - this.#askedAt <= this.#patience.answerMs;
    this.#isAsking = true;
    this.#askedAt = performance.now();
    void this.#look();
    return this.#wasAnswered;
  }

  /** Why this node cannot work, with the remedy; undefined while the tree answers. */
  get fault(): string | undefined {
    const silentMs = performance.now() - this.#answeredAt;
    if (silentMs <= this.#patience.faultMs) return undefined;
    return (
      `the state directory has not answered for ${Math.round(silentMs / 1_000)} s: its companies go to other nodes; ` +
      "see to its file system, and mount it again"
    );
  }

  async #look(): Promise<void> {
    try {
      await this.#ask();
      this.#answeredAt = performance.now();
      this.#wasAnswered = true;
    } catch {
      // Not there, or not readable: `fault` tells it when it lasts.
      this.#wasAnswered = false;
    } finally {
      this.#isAsking = false;
    }
  }
}
