/** The documents without an answer so far, by their numbers. */
import { aborted } from "../../lib/aborted.ts";
import type { DocumentJob as Job, DocumentOrigin } from "./document-job.ts";
import { lineFor } from "./document-line.ts";
import type { ParserThread } from "./parser-thread.ts";
import type { PreparedDocument } from "./prepared-document.ts";

export type DocumentSource = Pick<Job, "path" | "bytes">;

export class UnansweredJobs {
  readonly #jobs = new Map<number, Job>();
  #nextId = 1;
  #onNone: (() => void) | undefined;

  get(id: number): Job | undefined {
    return this.#jobs.get(id);
  }

  has(job: Job): boolean {
    return this.#jobs.has(job.id);
  }

  /** Those that the thread holds. */
  ofThread(thread: ParserThread): readonly Job[] {
    return [...this.#jobs.values()].filter((job) => job.thread === thread);
  }

  /** Makes a job. Its answer rejects at once when the signal is aborted, also while a thread has it in hand. */
  add(
    source: DocumentSource,
    { companyCode = "", size: fileSize = 0, charset }: DocumentOrigin,
    signal: AbortSignal | undefined,
  ): { readonly job: Job; readonly answer: Promise<PreparedDocument> } {
    const { promise: answer, resolve, reject } = Promise.withResolvers<PreparedDocument>();
    const id = this.#takeId();
    const size = source.bytes?.byteLength ?? fileSize;
    const abort = () => job.settle({ error: signal?.reason });
    const job: Job = {
      ...source,
      ...{ id, companyCode, charset, size, line: lineFor(source.path, size) },
      thread: undefined,
      blamed: 0,
      witnessed: 0,
      settle: (settled) => {
        // Answers of aborted jobs still come from the thread; they find no job any more.
        if (!this.#jobs.delete(id)) return;
        signal?.removeEventListener("abort", abort);
        if ("error" in settled) reject(settled.error);
        else resolve(settled);
        if (this.#jobs.size === 0) this.#onNone?.();
      },
    };
    this.#jobs.set(id, job);
    signal?.addEventListener("abort", abort, { once: true });
    return { job, answer };
  }

  rejectAll(error: Error): void {
    for (const job of [...this.#jobs.values()]) job.settle({ error });
  }

  /** Resolves when none is left, or when the deadline is over. */
  async untilNone(deadline: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onNone = resolve;
    if (this.#jobs.size > 0) await Promise.race([promise, aborted(deadline)]);
  }

  /** Job numbers fit the shared Int32 and start again; 0 means none. A number still in use is passed over. */
  #takeId(): number {
    do {
      this.#nextId = this.#nextId >= 0x7fff_ffff ? 1 : this.#nextId + 1;
    } while (this.#jobs.has(this.#nextId));
    return this.#nextId;
  }
}
