import { JsonThread } from "../../lib/threads/json-thread.ts";
import type { FilingResult, FilingTask } from "./file-away.ts";

const nothing = (): void => undefined;

/** The thread that files groups away, one after the other, and which receipts it is writing. */
export class FilingThread {
  readonly #thread = new JsonThread<readonly FilingTask[], FilingResult[]>({
    module: "./file-away-worker",
    base: import.meta.url,
    name: "filing",
  });
  #inHand: { readonly receiptKeys: ReadonlySet<string>; readonly done: Promise<void> } | undefined;

  /** Rejects when the thread dies. */
  async run(tasks: readonly FilingTask[], receiptKeys: ReadonlySet<string>): Promise<FilingResult[]> {
    const work = this.#thread.run(tasks);
    this.#inHand = { receiptKeys, done: work.then(nothing, nothing) };
    return await work.finally(() => {
      this.#inHand = undefined;
    });
  }

  /** Resolves when the thread is not writing the receipt. */
  async receiptIdle(key: string): Promise<void> {
    while (this.#inHand?.receiptKeys.has(key) === true) await this.#inHand.done;
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}
