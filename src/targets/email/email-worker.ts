/**
 * The client of an e-mail target, in a thread: hands messages to one SMTP server over a few connections, which it keeps for
 * some seconds. Whatever the server does to the library happens here; the main thread ends this one when a message is over
 * its time. nodemailer gets checked parts, no addresses to parse; it opens no files and no addresses of its own.
 */
import { hostname } from "node:os";
import { createTransport } from "nodemailer";
import type { CustomerMessage, DeliveryOutcome } from "../../outbound/target.ts";
import { smtpFault } from "./email-faults.ts";
import type { ThreadClient } from "../../remote/client-thread.ts";
import type { FromJobThread, ToJobThread } from "../../remote/thread-jobs.ts";
import { outcomeOf, TransferFault } from "../../remote/transfer-fault.ts";

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

/** What its thread gets: all of it as it is used. */
export interface SmtpSettings extends EmailTargetOptions {
  readonly port: number;
  readonly connections: number;
  readonly connectMs: number;
  readonly silenceMs: number;
  /** How long a connection is kept for the next message. */
  readonly keepMs: number;
}

export interface EmailJob {
  /** The same at every attempt: it makes the Message-ID. */
  readonly deliveryId: string;
  readonly message: CustomerMessage;
}

export type ToMailThread =
  | { readonly kind: "send"; readonly id: number; readonly job: EmailJob }
  | { readonly kind: "probe"; readonly id: number };

type Send = (message: FromJobThread<never, DeliveryOutcome>) => void;
const maxResponseBytes = 64 * 1024;

function tlsOptions({ tls, ca }: SmtpSettings) {
  // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED in the environment would let everybody in otherwise.
  const checked = { minVersion: "TLSv1.2", rejectUnauthorized: true } as const;
  const trusted = { ...checked, ...(ca === undefined ? {} : { ca }) };
  return {
    secure: tls === "implicit",
    requireTLS: tls === "starttls",
    ignoreTLS: tls === "none",
    tls: trusted,
  };
}

function makeTransport(settings: SmtpSettings) {
  const { host, port, user, password, connections, connectMs, silenceMs, keepMs } = settings;
  return createTransport({
    pool: true,
    maxConnections: connections,
    maxMessages: 100,
    // The delivery queue decides about another try.
    maxRequeues: 0,
    idleTimeout: keepMs,
    ...{ host, port, name: hostname() },
    ...tlsOptions(settings),
    ...(user === undefined ? {} : { auth: { user, pass: password ?? "" } }),
    ...{ connectionTimeout: connectMs, greetingTimeout: silenceMs, socketTimeout: silenceMs },
    ...{ dnsTimeout: connectMs, maxResponseSize: maxResponseBytes },
    ...{ disableFileAccess: true, disableUrlAccess: true },
  });
}

type Transport = ReturnType<typeof makeTransport>;

/** Servers and customers recognise a message that comes twice by it. */
function messageIdOf(deliveryId: string, from: string): string {
  return `<${deliveryId}@${from.slice(from.lastIndexOf("@") + 1)}>`;
}

function mailOf({ deliveryId, message }: EmailJob, { from, fromName = "", replyTo }: SmtpSettings) {
  const { to, toName = "", subject, text, html, date } = message;
  return {
    from: { name: fromName, address: from },
    to: { name: toName, address: to },
    envelope: { from, to: [to] },
    ...(replyTo === undefined ? {} : { replyTo: { name: "", address: replyTo } }),
    ...{ subject, text, ...(html === undefined ? {} : { html }) },
    messageId: messageIdOf(deliveryId, from),
    date: new Date(date),
    // No out-of-office reply goes to a machine (RFC 3834).
    headers: { "Auto-Submitted": "auto-generated", "X-Dropgate-Delivery": deliveryId },
  };
}

/** What a server might repeat of a sign-in: the password as it is, and as AUTH LOGIN and AUTH PLAIN send it. */
function secretsOf({ user, password }: SmtpSettings): readonly string[] {
  if (password === undefined) return [];
  const encoded = [password, `\0${user ?? ""}\0${password}`].map((text) =>
    Buffer.from(text).toString("base64"),
  );
  return [...encoded, password];
}

class EmailWorker implements ThreadClient {
  readonly #send: Send;
  readonly #settings: SmtpSettings;
  readonly #jobs = new Map<number, AbortController>();
  #transport: Transport | undefined;

  constructor(settings: SmtpSettings, send: Send) {
    this.#send = send;
    this.#settings = settings;
  }

  receive(message: ToJobThread<ToMailThread>): void {
    if (message.kind === "send") {
      const { id, job } = message;
      void this.#run({ id, to: job.message.to }, (signal) => this.#sendMail(job, signal));
    } else if (message.kind === "probe") void this.#run(message, () => this.#probe());
    else this.#jobs.get(message.id)?.abort();
  }

  end(): void {
    this.#transport?.close({ force: true });
    this.#transport = undefined;
  }

  async #run(
    { id, to }: { readonly id: number; readonly to?: string },
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const controller = new AbortController();
    this.#jobs.set(id, controller);
    const outcome = await this.#outcome(to, () => work(controller.signal));
    this.#jobs.delete(id);
    this.#send({ kind: "done", id, outcome });
  }

  async #outcome(to: string | undefined, work: () => Promise<void>): Promise<DeliveryOutcome> {
    const { host, port } = this.#settings;
    const where = `smtp ${host}:${port}`;
    try {
      await work();
      return { kind: "delivered" };
    } catch (error) {
      return outcomeOf(smtpFault(error, { where, secrets: [...secretsOf(this.#settings), to] }));
    }
  }

  async #sendMail(job: EmailJob, signal: AbortSignal): Promise<void> {
    this.#transport ??= makeTransport(this.#settings);
    const info = await this.#transport.sendMail({ ...mailOf(job, this.#settings), signal });
    if (info.accepted.length !== 1) throw new TransferFault("protocol", "The server accepted no recipient.");
  }

  async #probe(): Promise<void> {
    this.#transport ??= makeTransport(this.#settings);
    await this.#transport.verify();
  }
}

export async function createClient(data: unknown, send: Send): Promise<ThreadClient> {
  return new EmailWorker(data as SmtpSettings, send);
}
