/**
 * Takes decided files to the thread that files them away, in order, and notes in the ledger what is done.
 *
 *   queued --group--> in the thread --filed--> marked in the ledger
 *                                   \--failed--> queued again after a pause (the ledger still says: not filed)
 *                                   \--fenced--> forgotten: the node that has the company now files it
 *                                   \--not there--> the same for an hour, then marked, with an error in the log
 *
 * Bytes that are not there may come back: `inbound/` on a share that is away for a moment, or a folder that somebody moved.
 * The thread writes the receipt all the same; only the file itself has to wait.
 *
 * Nobody waits for the mark: when there is nothing more to file, it shares the commit of what comes next. Until it is there
 * the path counts as used. A crash anywhere leaves the entry marked as not filed: start-up queues it again.
 */
import type { Clock } from "../../lib/clock.ts";
import { killPoint } from "../../lib/kill-point.ts";
import type { LimitedLog } from "../../lib/logs/limited-log.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { heldUntil, type Ownership } from "../../store/cluster/ownership.ts";
import type { Store } from "../../store/database/database.ts";
import { FencedError } from "../../store/database/fence.ts";
import { markFiled, recordLocation } from "../../store/ledger/files.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { apart } from "../../store/database/groups/side-by-side.ts";
import type { FilingResult, FilingTask } from "./file-away.ts";
import { FilingThread } from "./filing-thread.ts";
import { hourMs } from "../../lib/durations.ts";

const groupSize = 256;
const pauseMs = 5_000;
const longestPauseMs = 60_000;
const usualLostAfterMs = hourMs;

const nothing = (): void => undefined;

/** Called when a task has come so far. */
export interface FilingSteps {
  /** Its receipts are there; called once, however often it is filed. Not for one whose receipts are those of a later file. */
  receiptWritten?(): void;
  /** It is filed away and marked in the ledger. */
  done(): void;
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
  readonly steps: FilingSteps;
  /** Whether its receipts were reported. */
  isAnswered: boolean;
}

export interface FilingQueueDependencies {
  readonly store: Pick<Store, "write" | "writeSoon">;
  /** Whose companies these are; not given where one process has all of them for ever. */
  readonly ownership?: Ownership | undefined;
  readonly toLedger: (path: string) => string;
  readonly clock: Clock;
  /** Whether a file on its way is to have the receipt: none of an earlier one is written then. */
  readonly isAwaited: (receiptKey: string) => boolean;
  readonly log: Logger;
  /** For what may be many lines of one kind. */
  readonly failing: LimitedLog;
  /** How long bytes that are not there are waited for; an hour unless given. */
  readonly lostAfterMs?: number;
  /** Before the retry of a task that failed; 5 seconds unless given. */
  readonly pauseMs?: number;
  /** One that several queues share, and that nobody of them ends; an own one unless given. */
  readonly thread?: FilingThread;
}

/** A task of a group with its result. */
interface Filed {
  readonly queued: Queued;
  readonly result: FilingResult;
}

/** Whether the thread has done what it could. */
function isDone({ kind }: FilingResult): boolean {
  return kind === "filed" || kind === "lost";
}

/** Whether anything was read of the file; mostly one is unread because there was nothing. */
function hadBytes({ sha256 }: FilingTask): boolean {
  return sha256 !== null && sha256 !== "";
}

/** Whether the bytes of a task are missed, and may still come. */
function mayComeBack({ queued, result }: Filed, lostAfterMs = usualLostAfterMs): boolean {
  if (result.kind !== "lost" || !hadBytes(queued.task)) return false;
  const { missingSince } = queued;
  return missingSince === undefined || performance.now() - missingSince < lostAfterMs;
}

/** The task without the receipt of its name. The one beside a file in `error/` is its own, and always written. */
function withoutReceiptOfName(task: FilingTask): FilingTask {
  return { ...task, receiptPaths: task.receiptPaths.slice(1) };
}

/** Each once: bytes that are missed come later than their receipt, and a mark that fails does not take it back. */
function reportReceipts(
  group: readonly Queued[],
  tasks: readonly FilingTask[],
  results: readonly FilingResult[],
): void {
  for (const [index, queued] of group.entries()) {
    const [task, result] = [tasks[index], results[index]];
    const hasReceipt = task !== undefined && task.receiptPaths.length > 0;
    if (!hasReceipt || queued.isAnswered || result === undefined || !isDone(result)) continue;
    queued.isAnswered = true;
    queued.steps.receiptWritten?.();
  }
}

/** With the moment until which the company is this node's. */
function heldTask(ownership: Ownership | undefined, task: FilingTask): FilingTask {
  if (ownership === undefined || ownership.isSole) return task;
  return { ...task, goodUntil: heldUntil(ownership, task.companyId) };
}

async function mark(
  tx: Transaction,
  done: readonly Filed[],
  { toLedger, at }: { readonly toLedger: (path: string) => string; readonly at: number },
): Promise<void> {
  for (const { result } of done) {
    if (result.kind === "filed" && result.actual !== undefined)
      await recordLocation(tx, result.id, toLedger(result.actual));
  }
  await markFiled(
    tx,
    done.map(({ result }) => result.id),
    at,
  );
}

/** The receipts of files that are on their way to be filed: of several files with one receipt the last one's is written. */
class OpenReceipts {
  readonly #open = new Map<string, { count: number; latestTurn: number }>();
  #turn = 0;

  /** A file was decided about. Returns its turn; without a key it has no receipt of its own. */
  begin(key: string | undefined): number {
    this.#turn += 1;
    if (key === undefined) return this.#turn;
    const count = (this.#open.get(key)?.count ?? 0) + 1;
    this.#open.set(key, { count, latestTurn: this.#turn });
    return this.#turn;
  }

  /** Whether no later file has the receipt. */
  isLatest(key: string | undefined, turn: number): key is string {
    return key !== undefined && this.#open.get(key)?.latestTurn === turn;
  }

  /** A file that was begun with the key is done. */
  end(key: string | undefined): void {
    const open = key === undefined ? undefined : this.#open.get(key);
    if (key === undefined || open === undefined) return;
    open.count -= 1;
    if (open.count === 0) this.#open.delete(key);
  }
}

/** The queue; its thread starts with the first file. */
export class FilingQueue {
  readonly #deps: FilingQueueDependencies;
  readonly #thread: FilingThread;
  readonly #receipts = new OpenReceipts();
  readonly #timers = new Set<NodeJS.Timeout>();
  #queue: Queued[] = [];
  #running: Promise<void> | undefined;
  /** Of groups that are filed, and not marked yet. */
  readonly #noting = new Set<Promise<void>>();
  #isClosed = false;

  constructor(deps: FilingQueueDependencies) {
    this.#deps = deps;
    this.#thread = deps.thread ?? new FilingThread();
  }

  get length(): number {
    return this.#queue.length;
  }

  /**
   * `receiptKey`: of several files with one receipt only the last one's is written. Undefined when the receipt in `receipts/`
   * is that of another file.
   */
  add(task: FilingTask, receiptKey: string | undefined, steps: FilingSteps): void {
    const turn = this.#receipts.begin(receiptKey);
    this.#enqueue({ task, missed: 0, receiptKey, turn, steps, isAnswered: false });
  }

  /** Resolves when the thread is not writing the receipt. */
  receiptIdle(receiptKey: string): Promise<void> {
    return this.#thread.receiptIdle(receiptKey);
  }

  /** Resolves when all that was queued is filed or has failed once. */
  async drain(): Promise<void> {
    while (this.#running !== undefined || this.#noting.size > 0) {
      await this.#running;
      if (this.#noting.size === 0) continue;
      // The marks go with the next commit: this one.
      await this.#deps.store.write("unowned", async () => undefined).catch(nothing);
      await Promise.all(this.#noting);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.drain();
    for (const timer of this.#timers) clearTimeout(timer);
    if (this.#deps.thread === undefined) await this.#thread.close();
  }

  /** Another node files all of it: nothing is begun any more. Resolves when the thread has nothing of it in hand. */
  async forget(): Promise<void> {
    this.#isClosed = true;
    this.#queue = [];
    for (const timer of this.#timers) clearTimeout(timer);
    await this.#running;
    await Promise.all(this.#noting);
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
        return heldTask(this.#deps.ownership, isItsOwn ? task : withoutReceiptOfName(task));
      });
      const results = await this.#thread.run(tasks, receiptKeys);
      const at = this.#deps.clock.now();
      killPoint("filing.done");
      reportReceipts(group, tasks, results);
      const noting = this.#note(group, { results, at })
        .catch((error: unknown) => this.#failed(group, error))
        .finally(() => this.#noting.delete(noting));
      this.#noting.add(noting);
    } catch (error) {
      this.#failed(group, error);
    }
  }

  async #note(
    group: readonly Queued[],
    { results, at }: { readonly results: readonly FilingResult[]; readonly at: number },
  ): Promise<void> {
    const { store, toLedger, lostAfterMs } = this.#deps;
    const filed = results.flatMap((result, index) => {
      const queued = group[index];
      return queued === undefined ? [] : [{ queued, result }];
    });
    const done = filed.filter((one) => isDone(one.result) && !mayComeBack(one, lostAfterMs));
    const byCompany = Map.groupBy(done, ({ queued }) => queued.task.companyId);
    // With more to file, those who decide may wait for it.
    const write = this.#queue.length === 0 ? store.writeSoon : store.write;
    const unmarked = new Map<number, unknown>();
    const marking = [...byCompany].map(([companyId, own]) =>
      // Of entries that are decided and not filed away: nothing else changes them.
      write(
        companyId,
        apart(
          () => [],
          (tx) => mark(tx, own, { toLedger, at }),
        ),
      ).catch((error: unknown) => {
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
    for (const one of filed) if (!unmarked.has(one.queued.task.companyId)) this.#report(one);
  }

  #report(filed: Filed): void {
    const { queued, result } = filed;
    if (result.kind === "fenced") {
      // Renewed since it was sent to the thread: there is a further try.
      if (this.#deps.ownership?.fenceOf(queued.task.companyId) !== undefined) this.#again([queued]);
      else this.#receipts.end(queued.receiptKey);
      return;
    }
    const { failing, log, lostAfterMs } = this.#deps;
    const { id: fileId } = result;
    const path = queued.task.from;
    if (result.kind === "failed") {
      const { systemCode, message } = result;
      failing.warn({ fileId, systemCode, message }, "the file cannot be filed away yet");
      this.#again([queued]);
      return;
    }
    if (mayComeBack(filed, lostAfterMs)) {
      const message = "the bytes of a decided file are not there; retrying";
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
    queued.steps.done();
  }

  #failed(group: readonly Queued[], error: unknown): void {
    // Another node finds them decided, and files them.
    if (error instanceof FencedError) return;
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
