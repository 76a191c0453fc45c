/** A target that sends e-mails over SMTP, in a thread of its own (`src/remote/thread-jobs.ts`). */
import { siblingModule } from "../../lib/threads/sibling-module.ts";
import type { Delivery, DeliveryOutcome, Target } from "../../outbound/target.ts";
import { ThreadJobs } from "../../remote/thread-jobs.ts";
import { failedBy } from "../../remote/transfer-fault.ts";
import type { EmailJob, SmtpSettings, ToMailThread } from "./email-messages.ts";
import { settledOrAborted } from "../settled-or-aborted.ts";

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

const keepMs = 10_000;

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
  readonly #jobs: ThreadJobs<ToMailThread, never, DeliveryOutcome>;
  readonly #timeoutMs: number;
  readonly #where: string;

  constructor(options: EmailTargetOptions) {
    const { host, timeoutMs = 60_000, idleMs = 30_000 } = options;
    const data = smtpSettings(options);
    this.concurrency = data.connections;
    this.#timeoutMs = timeoutMs;
    this.#where = `smtp ${host}:${data.port}`;
    const client = { module: siblingModule("./email-worker", import.meta.url), data };
    this.#jobs = new ThreadJobs({ client, where: this.#where, timeoutMs, idleMs });
  }

  async deliver({ id: deliveryId, message }: Delivery, signal: AbortSignal): Promise<DeliveryOutcome> {
    signal.throwIfAborted();
    if (message?.channel !== "email")
      return failedBy("content", `${this.#where}: only e-mails can be sent there.`);
    return await settledOrAborted(this.#run({ deliveryId, message }, signal), signal);
  }

  async probe(signal: AbortSignal): Promise<DeliveryOutcome> {
    signal.throwIfAborted();
    return await settledOrAborted(this.#run(undefined, signal), signal);
  }

  close(): Promise<void> {
    return this.#jobs.close();
  }

  async #run(job: EmailJob | undefined, signal: AbortSignal): Promise<DeliveryOutcome> {
    const { outcome, verdict } = await this.#jobs.run(
      {
        begin: (id) => (job === undefined ? { kind: "probe", id } : { kind: "send", id, job }),
        late: () => `not done within ${this.#timeoutMs} ms`,
      },
      signal,
    );
    // Done in the last moment is done.
    return outcome.kind === "delivered" ? outcome : (verdict ?? outcome);
  }
}

/** Makes a target that sends e-mails; its thread is there when it is needed. */
export function createEmailTarget(options: EmailTargetOptions): Target {
  return new EmailTarget(options);
}
