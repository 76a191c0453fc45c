/**
 * A target that sends e-mails over SMTP in a thread of its own, so that nothing a server does holds up anything else.
 *
 *   no thread   until there is a message
 *   working     messages under way; each has its total deadline
 *   idle        ended after a while
 *
 * A message that is over its time or aborted is given up by the thread; where that does not happen within a second, because
 * the library is stuck, the thread is terminated, and the next message gets another.
 */
import { Worker } from "node:worker_threads";
import { messageOf } from "../lib/errors.ts";
import type { Delivery, DeliveryOutcome, Target } from "../outbound/target.ts";
import type { EmailJob, FromMailThread, SmtpSettings, ToMailThread } from "./email-messages.ts";
import { failedBy } from "../remote/transfer-fault.ts";

export interface EmailTargetOptions {
  readonly host: string;
  /** Default 587, and 465 for `implicit`. */
  readonly port?: number;
  /** `starttls` sends nothing to a server without it; `implicit` begins with TLS; `none` is never encrypted. */
  readonly tls: "starttls" | "implicit" | "none";
  /** PEM of the authorities that are trusted, instead of the public ones that Node brings (not the system's). */
  readonly ca?: string;
  readonly user?: string;
  readonly password?: string;
  readonly from: string;
  readonly fromName?: string;
  readonly replyTo?: string;
  /** Of a whole attempt. Default 60,000. */
  readonly timeoutMs?: number;
  /** Default 2. */
  readonly connections?: number;
  /** Default 10,000, but never more than `timeoutMs`. */
  readonly connectMs?: number;
  /** Default 30,000, but never more than `timeoutMs`. */
  readonly silenceMs?: number;
  /** How long a thread is kept without messages. Default 30,000. */
  readonly idleMs?: number;
}

/** How long a thread may take to give a message up, or to say goodbye. */
const graceMs = 1_000;
const keepMs = 10_000;
/** A server that makes the client hoard takes down this thread and nothing else. */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 8 };

/** Runs from `dist` as .js and from the sources as .ts. */
function workerUrl(): URL {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return new URL(`./email-worker.${extension}`, import.meta.url);
}

/** loading → ready → ended. Never terminated while it loads, which would take the process down (see session-thread.ts). */
class MailThread {
  readonly #worker: Worker;
  readonly #loaded = Promise.withResolvers<void>();
  readonly #goodbye = Promise.withResolvers<void>();

  constructor(
    settings: SmtpSettings,
    events: { done(id: number, outcome: DeliveryOutcome): void; ended(detail: string): void },
  ) {
    this.#worker = new Worker(workerUrl(), {
      name: `smtp to ${settings.host}`,
      workerData: settings,
      resourceLimits,
    });
    let detail = "it was ended";
    this.#worker.on("message", (message: FromMailThread) => {
      if (message.kind === "ready") this.#loaded.resolve();
      else if (message.kind === "ended") this.#goodbye.resolve();
      else events.done(message.id, message.outcome);
    });
    this.#worker.on("error", (error) => {
      detail = messageOf(error);
    });
    this.#worker.on("exit", () => {
      this.#loaded.resolve();
      this.#goodbye.resolve();
      events.ended(detail);
    });
  }

  post(message: ToMailThread): void {
    this.#worker.postMessage(message);
  }

  /** Ends the thread when its connections are closed, or after a second. */
  async end(): Promise<void> {
    await this.#loaded.promise;
    this.post({ kind: "end" });
    const timer = setTimeout(() => this.#goodbye.resolve(), graceMs);
    await this.#goodbye.promise;
    clearTimeout(timer);
    await this.#worker.terminate();
  }

  async kill(): Promise<void> {
    await this.#loaded.promise;
    await this.#worker.terminate();
  }
}

interface Pending {
  readonly id: number;
  readonly thread: MailThread;
  /** Why it was told to give up: then its own words about that are not of interest. */
  verdict: DeliveryOutcome | undefined;
  readonly timers: Set<NodeJS.Timeout>;
  readonly settle: (outcome: DeliveryOutcome) => void;
}

function smtpSettings(options: EmailTargetOptions): SmtpSettings {
  const { host, tls, ca, user, password, from, fromName, replyTo, timeoutMs = 60_000 } = options;
  return {
    ...{ host, tls, ca, user, password, from, fromName, replyTo, keepMs },
    port: options.port ?? (tls === "implicit" ? 465 : 587),
    connections: options.connections ?? 2,
    connectMs: Math.min(options.connectMs ?? 10_000, timeoutMs),
    silenceMs: Math.min(options.silenceMs ?? 30_000, timeoutMs),
  };
}

class EmailTarget implements Target {
  readonly concurrency: number;
  readonly #settings: SmtpSettings;
  readonly #timeoutMs: number;
  readonly #idleMs: number;
  readonly #where: string;
  readonly #pending = new Map<number, Pending>();
  #thread: MailThread | undefined;
  #idle: NodeJS.Timeout | undefined;
  #nextId = 1;

  constructor(options: EmailTargetOptions) {
    this.#settings = smtpSettings(options);
    this.concurrency = this.#settings.connections;
    this.#timeoutMs = options.timeoutMs ?? 60_000;
    this.#idleMs = options.idleMs ?? 30_000;
    this.#where = `smtp ${options.host}:${this.#settings.port}`;
  }

  async deliver({ id: deliveryId, message }: Delivery, signal: AbortSignal): Promise<DeliveryOutcome> {
    signal.throwIfAborted();
    if (message?.channel !== "email")
      return failedBy("content", `${this.#where}: only e-mails can be sent there.`);
    return await this.#run({ deliveryId, message }, signal);
  }

  async probe(signal: AbortSignal): Promise<DeliveryOutcome> {
    signal.throwIfAborted();
    return await this.#run(undefined, signal);
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

  #run(job: EmailJob | undefined, signal: AbortSignal): Promise<DeliveryOutcome> {
    clearTimeout(this.#idle);
    this.#thread ??= this.#newThread();
    const thread = this.#thread;
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const settle = (outcome: DeliveryOutcome) => {
        signal.removeEventListener("abort", abort);
        resolve(outcome); // has no effect when it was aborted
      };
      const pending: Pending = { id, thread, verdict: undefined, timers: new Set(), settle };
      const abort = () => {
        reject(signal.reason);
        this.#giveUp(pending, failedBy("connectionLost", `${this.#where}: aborted.`));
      };
      const late = () =>
        this.#giveUp(pending, failedBy("timeout", `${this.#where}: not done within ${this.#timeoutMs} ms.`));
      signal.addEventListener("abort", abort, { once: true });
      pending.timers.add(setTimeout(late, this.#timeoutMs));
      this.#pending.set(id, pending);
      thread.post(job === undefined ? { kind: "probe", id } : { kind: "send", id, job });
    });
  }

  #newThread(): MailThread {
    const thread: MailThread = new MailThread(this.#settings, {
      done: (id, outcome) => {
        const pending = this.#pending.get(id);
        if (pending !== undefined) this.#settle(pending, outcome);
      },
      ended: (detail) => this.#ended(thread, detail),
    });
    return thread;
  }

  /** Tells the thread to give the message up, and ends the thread when it does not. */
  #giveUp(pending: Pending, verdict: DeliveryOutcome): void {
    if (!this.#pending.has(pending.id)) return;
    pending.verdict ??= verdict;
    pending.thread.post({ kind: "cancel", id: pending.id });
    const end = () => {
      if (this.#thread === pending.thread) this.#thread = undefined;
      void pending.thread.kill();
      this.#settle(pending, verdict);
    };
    pending.timers.add(setTimeout(end, graceMs));
  }

  #settle(pending: Pending, outcome: DeliveryOutcome): void {
    if (!this.#pending.delete(pending.id)) return;
    for (const timer of pending.timers) clearTimeout(timer);
    // Done in the last moment is done.
    pending.settle(outcome.kind === "delivered" ? outcome : (pending.verdict ?? outcome));
    if (this.#pending.size > 0) return;
    clearTimeout(this.#idle);
    const end = () => {
      const thread = this.#thread;
      this.#thread = undefined;
      void thread?.end();
    };
    this.#idle = setTimeout(end, this.#idleMs).unref();
  }

  #ended(thread: MailThread, detail: string): void {
    if (this.#thread === thread) this.#thread = undefined;
    const outcome = failedBy("protocol", `${this.#where}: the client ended: ${detail}.`, { scope: "target" });
    for (const pending of [...this.#pending.values()])
      if (pending.thread === thread) this.#settle(pending, outcome);
  }
}

/** Makes a target that sends e-mails; its thread is there when it is needed. */
export function createEmailTarget(options: EmailTargetOptions): Target {
  return new EmailTarget(options);
}
