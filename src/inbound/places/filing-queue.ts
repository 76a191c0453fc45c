/**
 * Takes decided files to the thread that files them away, in order, and notes in the ledger what is done.
 *
 *   queued --group--> in the thread --filed--> marked in the ledger
 *                                   \--failed--> queued again after a pause (the ledger still says: not filed)
 *                                   \--not there--> the same for an hour, then marked, with an error in the log
 *
 * Bytes that are not there may come back: `inbound/` on a share that blinks, or a folder that was moved away for a moment.
 * The receipt is written meanwhile; only the file itself is waited for.
 *
 * Nobody waits for the mark: when there is nothing more to file, it shares the commit of what comes next. Until it is there
 * the path counts as used. A crash anywhere leaves the entry marked as not filed: start-up queues it again.
 */
import { JsonThread } from "../../lib/threads/json-thread.ts";
import { killPoint } from "../../lib/kill-point.ts";
import type { LimitedLog } from "../../lib/logs/limited-log.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { Store } from "../../store/database/database.ts";
import { markFiled, recordLocation } from "../../store/ledger/files.ts";
import type { Transaction } from "../../store/database/group-commit.ts";
import type { FilingResult, FilingTask } from "./file-away.ts";

const groupSize = 256;
const pauseMs = 5_000;
const longestPauseMs = 60_000;
const lostAfterMs = 3_600_000;

export interface FilingQueue {
  /**
   * `receiptKey`: of several files with one receipt only the last one's is written. Undefined when the receipt in `receipts/`
   * is that of another file.
   */
  add(task: FilingTask, receiptKey: string | undefined, done: () => void): void;
  readonly length: number;
  /** Resolves when the thread is not writing the receipt. */
  receiptIdle(receiptKey: string): Promise<void>;
  /** Resolves when all that was queued is filed or has failed once. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

interface Queued {
  readonly task: FilingTask;
  /** Attempts that found no bytes. */
  readonly missed: number;
  /** Of the first of them, on the clock of `performance.now()`. */
  readonly missingSince?: number;
  readonly receiptKey: string | undefined;
  /** Counts the tasks in the order in which their files were decided about. */
  readonly turn: number;
  done(): void;
}

/** The tasks of one receipt that are not done. */
interface OpenReceipt {
  count: number;
  latestTurn: number;
}

export interface FilingQueueDependencies {
  readonly store: Pick<Store, "write" | "writeSoon">;
  readonly toLedger: (path: string) => string;
  /** Whether a file on its way is to have the receipt: none of an earlier one is written then. */
  readonly isAwaited: (receiptKey: string) => boolean;
  readonly log: Logger;
  /** For what may be many lines of one kind. */
  readonly failing: LimitedLog;
  /** How long bytes that are not there are waited for; an hour unless given. */
  readonly lostAfterMs?: number;
  /** Until a task that failed is tried again; 5 seconds unless given. */
  readonly pauseMs?: number;
}

/** Whether anything was read of it; what was not is mostly refused because there was nothing. */
function hadBytes({ sha256 }: FilingTask): boolean {
  return sha256 !== null && sha256 !== "";
}

class ThreadedFilingQueue implements FilingQueue {
  readonly #deps: FilingQueueDependencies;
  readonly #thread = new JsonThread<readonly FilingTask[], FilingResult[]>({
    module: "./file-away-worker",
    base: import.meta.url,
    name: "filing",
  });
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #receipts = new Map<string, OpenReceipt>();
  #queue: Queued[] = [];
  #turn = 0;
  #running: Promise<void> | undefined;
  /** Of groups that are filed, and not marked yet. */
  readonly #noting = new Set<Promise<void>>();
  #inThread: { readonly receiptKeys: ReadonlySet<string>; readonly done: Promise<void> } | undefined;
  #isClosed = false;

  constructor(deps: FilingQueueDependencies) {
    this.#deps = deps;
  }

  get length(): number {
    return this.#queue.length;
  }

  add(task: FilingTask, receiptKey: string | undefined, done: () => void): void {
    this.#turn += 1;
    const turn = this.#turn;
    if (receiptKey !== undefined) {
      const open = this.#receipts.get(receiptKey);
      this.#receipts.set(receiptKey, { count: (open?.count ?? 0) + 1, latestTurn: turn });
    }
    this.#enqueue({ task, missed: 0, receiptKey, turn, done });
  }

  async receiptIdle(receiptKey: string): Promise<void> {
    while (this.#inThread?.receiptKeys.has(receiptKey) === true) await this.#inThread.done;
  }

  #enqueue(queued: Queued): void {
    if (this.#isClosed) return;
    this.#queue.push(queued);
    this.#running ??= this.#run();
  }

  async drain(): Promise<void> {
    while (this.#running !== undefined || this.#noting.size > 0) {
      await this.#running;
      if (this.#noting.size === 0) continue;
      // The marks go with the next commit: this one.
      await this.#deps.store.write(async () => undefined).catch(nothing);
      await Promise.all(this.#noting);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.drain();
    for (const timer of this.#timers) clearTimeout(timer);
    await this.#thread.close();
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      const group = this.#queue.slice(0, groupSize);
      this.#queue = this.#queue.slice(groupSize);
      await this.#fileGroup(group);
    }
    this.#running = undefined;
  }

  async #fileGroup(group: readonly Queued[]): Promise<void> {
    try {
      killPoint("filing.sent");
      const results = await this.#runInThread(group);
      killPoint("filing.done");
      const noting = this.#noteOrRepeat(group, results).finally(() => this.#noting.delete(noting));
      this.#noting.add(noting);
    } catch (error) {
      this.#failed(group, error);
    }
  }

  async #noteOrRepeat(group: readonly Queued[], results: readonly FilingResult[]): Promise<void> {
    try {
      await this.#note(group, results);
      killPoint("filing.noted");
    } catch (error) {
      this.#failed(group, error);
    }
  }

  #failed(group: readonly Queued[], error: unknown): void {
    this.#deps.failing.warn({ err: error, files: group.map(({ task }) => task.id) }, "filing away failed");
    this.#again(group);
  }

  async #runInThread(group: readonly Queued[]): Promise<FilingResult[]> {
    const receiptKeys = new Set(group.flatMap(({ receiptKey }) => receiptKey ?? []));
    const work = this.#thread.run(group.map((queued) => this.#withLatestReceipt(queued)));
    const inThread = { receiptKeys, done: work.then(nothing, nothing) };
    this.#inThread = inThread;
    return await work.finally(() => {
      this.#inThread = undefined;
    });
  }

  /** The receipt beside a file in `error/` is its own, and always written. */
  #withLatestReceipt({ task, receiptKey, turn }: Queued): FilingTask {
    const isLatest = receiptKey !== undefined && this.#receipts.get(receiptKey)?.latestTurn === turn;
    if (isLatest && !this.#deps.isAwaited(receiptKey)) return task;
    return { ...task, receiptPaths: task.receiptPaths.slice(1) };
  }

  async #note(group: readonly Queued[], results: readonly FilingResult[]): Promise<void> {
    const settled = results.filter(
      ({ kind }, index) => kind !== "failed" && !this.#isMissing(group[index], kind),
    );
    const { store } = this.#deps;
    const mark = async (tx: Transaction): Promise<void> => {
      for (const result of settled) {
        if (result.kind === "filed" && result.actual !== undefined) {
          await recordLocation(tx, result.id, this.#deps.toLedger(result.actual));
        }
      }
      if (settled.length > 0)
        await markFiled(
          tx,
          settled.map(({ id }) => id),
        );
    };
    // With more to file, those who decide may wait for it.
    await (this.#queue.length === 0 ? store.writeSoon(mark) : store.write(mark));
    for (const [index, result] of results.entries()) this.#report(group[index], result);
  }

  /** Whether its bytes may still come back. */
  #isMissing(queued: Queued | undefined, kind: FilingResult["kind"]): boolean {
    if (kind !== "lost" || queued === undefined) return false;
    const { missingSince, task } = queued;
    if (!hadBytes(task)) return false;
    const waitMs = this.#deps.lostAfterMs ?? lostAfterMs;
    return missingSince === undefined || performance.now() - missingSince < waitMs;
  }

  #report(queued: Queued | undefined, result: FilingResult): void {
    if (queued === undefined) return;
    const { id: fileId } = result;
    if (result.kind === "failed") {
      const { systemCode, message } = result;
      this.#deps.failing.warn({ fileId, systemCode, message }, "the file cannot be filed away yet");
      this.#again([queued]);
      return;
    }
    const path = queued.task.from;
    if (this.#isMissing(queued, result.kind)) {
      const message = "the bytes of a decided file are not there; they are looked for again";
      this.#deps.failing.warn({ fileId, path }, message);
      const { missed, missingSince = performance.now() } = queued;
      this.#again([{ ...queued, missed: missed + 1, missingSince }]);
      return;
    }
    if (result.kind === "lost" && hadBytes(queued.task)) {
      const remedy = "put them back where they were, or see `dropgate ledger verify`";
      this.#deps.log.error({ fileId, path, remedy }, "the bytes of a decided file are gone");
    }
    this.#closeReceipt(queued.receiptKey);
    queued.done();
  }

  #closeReceipt(receiptKey: string | undefined): void {
    if (receiptKey === undefined) return;
    const open = this.#receipts.get(receiptKey);
    if (open === undefined) return;
    open.count -= 1;
    if (open.count === 0) this.#receipts.delete(receiptKey);
  }

  #again(group: readonly Queued[]): void {
    if (this.#isClosed) return;
    const missed = Math.max(0, ...group.map((queued) => queued.missed - 1));
    const firstMs = this.#deps.pauseMs ?? pauseMs;
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        for (const queued of group) this.#enqueue(queued);
      },
      Math.min(firstMs * 2 ** missed, longestPauseMs),
    );
    this.#timers.add(timer);
  }
}

const nothing = (): void => undefined;

/** Makes the queue; its thread starts with the first file. */
export function createFilingQueue(deps: FilingQueueDependencies): FilingQueue {
  return new ThreadedFilingQueue(deps);
}
