/** Who is told of each decision and each receipt while the pipeline works, for what people look at. */
import type { DecidedState } from "../../domain/files/file-state.ts";
import type { Fault } from "../../lib/errors.ts";
import type { Channel } from "../places/inbox.ts";

/** A file that was decided about just now: the decision is committed. */
export interface DecisionNews {
  readonly companyId: number;
  readonly companyCode: string;
  /** Number of the ledger entry. */
  readonly fileId: number;
  readonly name: string;
  readonly channel: Channel;
  readonly userName: string | null;
  readonly state: DecidedState;
  /** Empty unless it was refused or superseded. */
  readonly faults: readonly Fault[];
  /** Milliseconds UTC. */
  readonly at: number;
}

/** Called on the way of each file: neither may throw, and both must be quick. */
export interface DecisionWatch {
  decided(news: DecisionNews): void;
  /** The receipt of a file is there, so many milliseconds after the file or its retry. */
  receiptWritten(companyId: number, delayMs: number): void;
}

/** One watch that tells several, which may come and go. */
export class DecisionWatches implements DecisionWatch {
  readonly #watches = new Set<Partial<DecisionWatch>>();

  /** Tells this one too from now on. Returns a function that ends that. */
  add(watch: Partial<DecisionWatch>): () => void {
    this.#watches.add(watch);
    return () => void this.#watches.delete(watch);
  }

  decided(news: DecisionNews): void {
    for (const watch of this.#watches) watch.decided?.(news);
  }

  receiptWritten(companyId: number, delayMs: number): void {
    for (const watch of this.#watches) watch.receiptWritten?.(companyId, delayMs);
  }
}
