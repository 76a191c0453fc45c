/**
 * A target that uploads in a thread of its own, so that nothing a server does holds up anything else.
 *
 *   no thread   until there is a job
 *   working     jobs under way; each has its total deadline
 *   idle        ended after a while
 *
 * A job that is over its time or aborted is told to give up. Where the thread does not do so within a second, because a
 * library is stuck, the thread is terminated, and the next job gets another. Temporary files that such a job may have left
 * are removed by a later one; those of a delivery are besides overwritten by its next attempt.
 */
import { randomBytes } from "node:crypto";
import type { Delivery, DeliveryFault, DeliveryFile, DeliveryOutcome, Target } from "../outbound/target.ts";
import { readBytes } from "./delivery-bytes.ts";
import { checkNames, temporaryNameOf } from "./delivery-names.ts";
import { SessionThread } from "../remote/session-thread.ts";
import { failedBy, outcomeOf } from "../remote/transfer-fault.ts";
import type {
  FromThread,
  Leftover,
  ToThread,
  UploadFile,
  UploadJob,
  UploadSettings,
  UploadStep,
} from "./upload-messages.ts";

export interface UploadTargetSettings extends UploadSettings {
  readonly timeoutMs: number;
  readonly connections: number;
  /** How long a thread is kept without jobs. */
  readonly idleMs: number;
}

type UploadThread = SessionThread<ToThread, FromThread>;

interface Pending {
  readonly id: number;
  readonly kind: "deliver" | "probe";
  readonly thread: UploadThread;
  readonly files: readonly DeliveryFile[];
  readonly job: UploadJob;
  step: UploadStep;
  /** The file in hand. */
  index: number;
  /** Why it was told to give up: then its own words about that are not of interest. */
  verdict: DeliveryOutcome | undefined;
  readonly timers: Set<NodeJS.Timeout>;
  readonly settle: (outcome: DeliveryOutcome) => void;
}

/** How long a thread may take to give a job up. */
const graceMs = 1_000;
const maxLeftovers = 100;
/** After these nothing more could be removed. */
const losingFaults: ReadonlySet<DeliveryFault> = new Set(["connectionLost", "timeout", "protocol"]);

class UploadTarget implements Target {
  readonly concurrency: number;
  readonly #settings: UploadTargetSettings;
  readonly #where: string;
  readonly #pending = new Map<number, Pending>();
  #thread: UploadThread | undefined;
  #leftovers: Leftover[] = [];
  #idle: NodeJS.Timeout | undefined;
  #nextId = 1;

  constructor(settings: UploadTargetSettings) {
    this.concurrency = settings.connections;
    this.#settings = settings;
    this.#where = `${settings.server.kind} ${settings.server.host}:${settings.server.port}`;
  }

  async deliver(delivery: Delivery, signal: AbortSignal): Promise<DeliveryOutcome> {
    signal.throwIfAborted();
    try {
      checkNames(delivery);
    } catch (error) {
      return outcomeOf(error);
    }
    const files = delivery.files.map(({ name }) => ({
      name,
      temporaryName: temporaryNameOf(delivery, name),
    }));
    const job = { directory: delivery.directory, files, leftovers: this.#takeLeftovers() };
    return await this.#run({ kind: "deliver", job, files: delivery.files }, signal);
  }

  async probe(signal: AbortSignal): Promise<DeliveryOutcome> {
    signal.throwIfAborted();
    const name = `.dropgate-probe.${randomBytes(8).toString("hex")}`;
    const files: UploadFile[] = [{ name: `${name}.done`, temporaryName: `${name}.part` }];
    const job = { directory: undefined, files, leftovers: this.#takeLeftovers() };
    return await this.#run({ kind: "probe", job, files: [] }, signal);
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const thread = this.#thread;
    this.#thread = undefined;
    for (const pending of [...this.#pending.values()]) {
      if (pending.thread === thread)
        this.#giveUp(pending, failedBy("connectionLost", `${this.#where}: closed.`));
    }
    await thread?.end();
  }

  #run(
    { kind, job, files }: { kind: "deliver" | "probe"; job: UploadJob; files: readonly DeliveryFile[] },
    signal: AbortSignal,
  ): Promise<DeliveryOutcome> {
    clearTimeout(this.#idle);
    this.#thread ??= this.#newThread();
    const thread = this.#thread;
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const settle = (outcome: DeliveryOutcome) => {
        signal.removeEventListener("abort", abort);
        resolve(outcome); // has no effect when it was aborted
      };
      const timers = new Set<NodeJS.Timeout>();
      const pending: Pending = {
        id,
        kind,
        thread,
        files,
        job,
        step: "connecting",
        index: 0,
        verdict: undefined,
        timers,
        settle,
      };
      const abort = () => {
        reject(signal.reason);
        this.#giveUp(pending, failedBy("connectionLost", `${this.#where}: aborted.`));
      };
      signal.addEventListener("abort", abort, { once: true });
      timers.add(setTimeout(() => this.#giveUp(pending, this.#late(pending)), this.#settings.timeoutMs));
      this.#pending.set(id, pending);
      thread.post({ kind, id, job });
    });
  }

  #newThread(): UploadThread {
    const { server, directory, makeFolders } = this.#settings;
    const thread: UploadThread = new SessionThread(
      {
        module: new URL("./upload-worker", import.meta.url),
        name: `${server.kind} to ${server.host}`,
        data: { server, directory, makeFolders } satisfies UploadSettings,
      },
      {
        message: (message) => this.#receive(message),
        ended: (detail) => this.#ended(thread, detail),
      },
    );
    return thread;
  }

  #receive(message: FromThread): void {
    const pending = this.#pending.get(message.id);
    if (pending === undefined) return;
    if (message.kind === "step") pending.step = message.step;
    else if (message.kind === "want") void this.#bring(pending, message.index);
    else this.#settle(pending, message.outcome);
  }

  async #bring(pending: Pending, index: number): Promise<void> {
    const { id, thread } = pending;
    pending.index = index;
    const file = pending.files[index];
    if (file === undefined) return;
    try {
      const read = await readBytes(file);
      // A copy of exactly these bytes, which is given away: a view would take the whole memory it is a view of along.
      if (this.#pending.has(id)) this.#give(thread, id, new Uint8Array(read));
    } catch (error) {
      pending.verdict ??= outcomeOf(error);
      thread.post({ kind: "noBytes", id });
    }
  }

  #give(thread: UploadThread, id: number, bytes: Uint8Array<ArrayBuffer>): void {
    thread.post({ kind: "bytes", id, bytes }, [bytes.buffer]);
  }

  /** Tells the thread to give the job up, and ends the thread when it does not. */
  #giveUp(pending: Pending, verdict: DeliveryOutcome): void {
    if (!this.#pending.has(pending.id)) return;
    pending.verdict ??= verdict;
    pending.thread.post({ kind: "cancel", id: pending.id });
    const end = () => {
      if (this.#thread === pending.thread) this.#thread = undefined;
      void pending.thread.kill("it was stuck");
      this.#settle(pending, verdict);
    };
    pending.timers.add(setTimeout(end, graceMs));
  }

  #late({ step }: Pending): DeliveryOutcome {
    const words = `not done within ${this.#settings.timeoutMs} ms; it was ${step}`;
    return failedBy("timeout", `${this.#where}: ${words}.`);
  }

  #settle(pending: Pending, outcome: DeliveryOutcome): void {
    if (!this.#pending.delete(pending.id)) return;
    for (const timer of pending.timers) clearTimeout(timer);
    if (outcome.kind === "failed") this.#remember(pending, outcome.fault);
    // Done in the last moment is done.
    pending.settle(outcome.kind === "delivered" ? outcome : (pending.verdict ?? outcome));
    this.#endWhenIdle();
  }

  #endWhenIdle(): void {
    if (this.#pending.size > 0) return;
    clearTimeout(this.#idle);
    const end = () => {
      const thread = this.#thread;
      this.#thread = undefined;
      void thread?.end();
    };
    this.#idle = setTimeout(end, this.#settings.idleMs).unref();
  }

  #ended(thread: UploadThread, detail: string): void {
    if (this.#thread === thread) this.#thread = undefined;
    for (const pending of [...this.#pending.values()]) {
      if (pending.thread !== thread) continue;
      this.#settle(
        pending,
        failedBy("protocol", `${this.#where}: the client ended: ${detail}.`, { scope: "target" }),
      );
    }
  }

  #takeLeftovers(): readonly Leftover[] {
    const taken = this.#leftovers;
    this.#leftovers = [];
    return taken;
  }

  /** What the job has not removed, and what it may have left itself when it lost its connection. */
  #remember({ kind, job, step, index }: Pending, fault: DeliveryFault): void {
    const hasBegun = step === "uploading" || step === "renaming";
    if (!hasBegun) this.#leftovers.push(...job.leftovers);
    const file = job.files[index];
    if (file === undefined || !hasBegun || !losingFaults.has(fault)) return;
    const { directory } = job;
    this.#leftovers.push({ directory, temporaryName: file.temporaryName });
    if (kind === "probe") this.#leftovers.push({ directory, temporaryName: file.name });
    this.#leftovers = this.#leftovers.slice(-maxLeftovers);
  }
}

/** Makes a target over a thread of its own; the thread is there when it is needed. */
export function createUploadTarget(settings: UploadTargetSettings): Target {
  return new UploadTarget(settings);
}
