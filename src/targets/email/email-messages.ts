/** What an e-mail target tells its thread, besides what every such thread is told (`src/remote/thread-jobs.ts`). */
import type { CustomerMessage } from "../../outbound/target.ts";

export interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  readonly tls: "starttls" | "implicit" | "none";
  /** PEM. */
  readonly ca: string | undefined;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly from: string;
  readonly fromName: string | undefined;
  readonly replyTo: string | undefined;
  readonly connections: number;
  readonly connectMs: number;
  /** How long nothing may come or go. */
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
