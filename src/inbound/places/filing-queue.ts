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
import { killPoint } from "../../lib/kill-point.ts";
import type { LimitedLog } from "../../lib/logs/limited-log.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { Store } from "../../store/database/database.ts";
import { markFiled, recordLocation } from "../../store/ledger/files.ts";
import type { Transaction } from "../../store/database/group-commit.ts";
import type { FilingResult, FilingTask } from "./file-away.ts";
import { FilingThread } from "./filing-thread.ts";
import { OpenReceipts } from "./open-receipts.ts";

const groupSize = 256;
const pauseMs = 5_000;
const longestPauseMs = 60_000;
const usualLostAfterMs = 3_600_000;

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

/** Whether the bytes of a task are missed, and may still come. */
function mayComeBack(
  kind: FilingResult["kind"],
  queued: Queued | undefined,
  lostAfterMs = usualLostAfterMs,
): boolean {
  if (kind !== "lost" || queued === undefined || !hadBytes(queued.task)) return false;
  const { missingSince } = queued;
  return missingSince === undefined || performance.now() - missingSince < lostAfterMs;
}

/** The task without the receipt of its name. The one beside a file in `error/` is its own, and always written. */
function withoutReceiptOfName(task: FilingTask): FilingTask {
  return { ...task, receiptPaths: task.receiptPaths.slice(1) };
}

/** Notes in the ledger what is done. */
async function mark(
  tx: Transaction,
  done: readonly FilingResult[],
  toLedger: (path: string) => string,
): Promise<void> {
  for (const result of done) {
    if (result.kind === "filed" && result.actual !== undefined)
      await recordLocation(tx, result.id, toLedger(result.actual));
  }
  const ids = done.map(({ id }) => id);
  if (ids.length > 0) await markFiled(tx, ids);
}

class ThreadedFilingQueue implements FilingQueue {
  readonly #deps: FilingQueueDependencies;
  readonly #thread = new FilingThread();
  readonly #receipts = new OpenReceipts();
  readonly #timers = new Set<NodeJS.Timeout>();
  #queue: Queued[] = [];
  #running: Promise<void> | undefined;
  /** Of groups that are filed, and not marked yet. */
  readonly #noting = new Set<Promise<void>>();
  #isClosed = false;

  constructor(deps: FilingQueueDependencies) {
    this.#deps = deps;
  }

  get length(): number {
    return this.#queue.length;
  }

  add(task: FilingTask, receiptKey: string | undefined, done: () => void): void {
    this.#enqueue({ task, missed: 0, receiptKey, turn: this.#receipts.begin(receiptKey), done });
  }

  receiptIdle(receiptKey: string): Promise<void> {
    return this.#thread.receiptIdle(receiptKey);
  }

  async drain(): Promise<void> {
    while (this.#running !== undefined || this.#noting.size > 0) {
      await this.#running;
      if (this.#noting.size === 0) continue;
      // The marks go with the next commit: this one.
      await this.#deps.store.write("site", async () => undefined).catch(nothing);
      await Promise.all(this.#noting);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.drain();
    for (const timer of this.#timers) clearTimeout(timer);
    await this.#thread.close();
  }

  #enqueue(queued: Queued): void {
    if (this.#isClosed) return;
    this.#queue.push(queued);
    this.#running ??= this.#run();
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
      const receiptKeys = new Set(group.flatMap(({ receiptKey }) => receiptKey ?? []));
      const tasks = group.map(({ task, receiptKey, turn }) => {
        const isItsOwn = this.#receipts.isLatest(receiptKey, turn) && !this.#deps.isAwaited(receiptKey);
        return isItsOwn ? task : withoutReceiptOfName(task);
      });
      const results = await this.#thread.run(tasks, receiptKeys);
      killPoint("filing.done");
      const noting = this.#note(group, results)
        .catch((error: unknown) => this.#failed(group, error))
        .finally(() => this.#noting.delete(noting));
      this.#noting.add(noting);
    } catch (error) {
      this.#failed(group, error);
    }
  }

  async #note(group: readonly Queued[], results: readonly FilingResult[]): Promise<void> {
    const { store, toLedger } = this.#deps;
    const done = results.filter(
      ({ kind }, index) => kind !== "failed" && !mayComeBack(kind, group[index], this.#deps.lostAfterMs),
    );
    const companies = new Map(group.map(({ task }) => [task.id, task.companyId]));
    const byCompany = Map.groupBy(done, ({ id }) => companies.get(id) ?? 0);
    // With more to file, those who decide may wait for it.
    const write = this.#queue.length === 0 ? store.writeSoon : store.write;
    const unmarked = new Map<number, unknown>();
    const marking = [...byCompany].map(([companyId, own]) =>
      write(companyId, (tx) => mark(tx, own, toLedger)).catch((error: unknown) => {
        unmarked.set(companyId, error);
      }),
    );
    await Promise.all(marking);
    // Each company by itself: an entry that is marked may be retried at once, and must not be marked a second time.
    for (const [companyId, error] of unmarked)
      this.#failed(
        group.filter(({ task }) => task.companyId === companyId),
        error,
      );
    for (const [index, result] of results.entries()) {
      const queued = group[index];
      if (queued !== undefined && !unmarked.has(queued.task.companyId)) this.#report(queued, result);
    }
  }

  #report(queued: Queued, result: FilingResult): void {
    const { failing, log, lostAfterMs } = this.#deps;
    const { id: fileId } = result;
    const path = queued.task.from;
    if (result.kind === "failed") {
      const { systemCode, message } = result;
      failing.warn({ fileId, systemCode, message }, "the file cannot be filed away yet");
      this.#again([queued]);
      return;
    }
    if (mayComeBack(result.kind, queued, lostAfterMs)) {
      const message = "the bytes of a decided file are not there; they are looked for again";
      failing.warn({ fileId, path }, message);
      const { missed, missingSince = performance.now() } = queued;
      this.#again([{ ...queued, missed: missed + 1, missingSince }]);
      return;
    }
    if (result.kind === "lost" && hadBytes(queued.task)) {
      const remedy = "put them back where they were, or see `dropgate ledger verify`";
      log.error({ fileId, path, remedy }, "the bytes of a decided file are gone");
    }
    this.#receipts.end(queued.receiptKey);
    queued.done();
  }

  #failed(group: readonly Queued[], error: unknown): void {
    this.#deps.failing.warn({ err: error, files: group.map(({ task }) => task.id) }, "filing away failed");
    this.#again(group);
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
