/** E-mails over SMTP, in a thread of its own (`src/remote/thread-jobs.ts`). */
import { siblingModule } from "../../lib/threads/sibling-module.ts";
import type { Delivery, DeliveryOutcome, Target } from "../../outbound/target.ts";
import { ThreadJobs } from "../../remote/thread-jobs.ts";
import { failedBy } from "../../remote/transfer-fault.ts";
import type { EmailJob, EmailTargetOptions, SmtpSettings, ToMailThread } from "./email-worker.ts";
import { settledOrAborted } from "../../lib/aborted.ts";

const keepMs = 10_000;

function smtpSettings(options: EmailTargetOptions): SmtpSettings {
  const { timeoutMs = 60_000, connectMs = 10_000, silenceMs = 30_000 } = options;
  return {
    ...options,
    keepMs,
    port: options.port ?? (options.tls === "implicit" ? 465 : 587),
    connections: options.connections ?? 2,
    connectMs: Math.min(connectMs, timeoutMs),
    silenceMs: Math.min(silenceMs, timeoutMs),
  };
}

/** A target that sends e-mails; its thread is there when it is needed. */
export class EmailTarget implements Target {
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
