/**
 * The thread that files decided files away, and makes the changes of names beside that (`shared-changes.ts`): one after the
 * other, in the order in which they were asked for. Several queues may share it.
 */
import { JsonThread } from "../../lib/threads/json-thread.ts";
import type { FilingResult, FilingTask } from "./file-away.ts";
import type { SharedChange, SharedEnd } from "./shared-changes.ts";
import { HoldOverError } from "./shared-moves.ts";

/** What the thread is asked: changes, which it makes before the tasks. */
export interface FilingRequest {
  readonly tasks: readonly FilingTask[];
  readonly changes: readonly SharedChange[];
}

export interface FilingAnswer {
  /** In the order of the tasks. */
  readonly results: readonly FilingResult[];
  /** In the order of the changes. */
  readonly ends: readonly SharedEnd[];
}

/** A fault of the system, met by the thread. */
class SharedChangeError extends Error {
  readonly code: string | undefined;

  constructor({ systemCode, message }: Extract<SharedEnd, { kind: "failed" }>) {
    super(message);
    this.name = "SharedChangeError";
    this.code = systemCode;
  }
}

const nothing = (): void => undefined;

interface InHand {
  /** Of receipts that it writes, or may write or remove: their keys, or their paths. */
  readonly receipts: ReadonlySet<string>;
  readonly done: Promise<void>;
}

export class FilingThread {
  readonly #thread = new JsonThread<FilingRequest, FilingAnswer>({
    ...{ module: "./file-away-worker", base: import.meta.url, name: "filing" },
  });
  readonly #inHand = new Set<InHand>();

  /** Files a group away. Rejects when the thread ends. */
  async run(
    tasks: readonly FilingTask[],
    receiptKeys: ReadonlySet<string>,
  ): Promise<readonly FilingResult[]> {
    const { results } = await this.#ask({ tasks, changes: [] }, receiptKeys);
    return results;
  }

  /**
   * Makes a change after all that was asked for before; gives whether there was something to change. Rejects with
   * `HoldOverError` when the company is another node's, with the fault of the system, and when the thread ends.
   */
  async change(change: SharedChange): Promise<boolean> {
    const { ends } = await this.#ask({ tasks: [], changes: [change] }, new Set([change.path]));
    const [end] = ends;
    if (end?.kind === "done") return end.isChanged;
    if (end?.kind === "failed") throw new SharedChangeError(end);
    throw new HoldOverError();
  }

  async #ask(request: FilingRequest, receipts: ReadonlySet<string>): Promise<FilingAnswer> {
    const work = this.#thread.run(request);
    const inHand = { receipts, done: work.then(nothing, nothing) };
    this.#inHand.add(inHand);
    return await work.finally(() => this.#inHand.delete(inHand));
  }

  /** Resolves when it is not to write or remove the receipt of this key, or at this path. */
  async receiptIdle(receipt: string): Promise<void> {
    for (;;) {
      const writing = [...this.#inHand].find(({ receipts }) => receipts.has(receipt));
      if (writing === undefined) return;
      await writing.done;
    }
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}
