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
    const { results } = await this.#inHandUntil(this.#thread.run({ tasks, changes: [] }), receiptKeys);
    return results;
  }

  /**
   * Makes a change of this path after all that was asked for before. What it is, `makeChange` says when its turn has come:
   * nothing, perhaps. Gives whether something was changed. Rejects with what `makeChange` throws, with `HoldOverError` when the
   * company is another node's, with the fault of the system, and when the thread ends.
   */
  async change(path: string, makeChange: () => SharedChange | undefined): Promise<boolean> {
    const asked = this.#thread.runInTurn(() => {
      const change = makeChange();
      return change && { tasks: [], changes: [change] };
    });
    const answer = await this.#inHandUntil(asked, new Set([path]));
    if (answer === undefined) return false;
    const [end] = answer.ends;
    if (end?.kind === "done") return end.isChanged;
    if (end?.kind === "failed") throw new SharedChangeError(end);
    throw new HoldOverError();
  }

  async #inHandUntil<T>(work: Promise<T>, receipts: ReadonlySet<string>): Promise<T> {
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
