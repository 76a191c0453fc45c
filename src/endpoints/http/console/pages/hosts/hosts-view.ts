/** What the page for host developers asks and shows. */
import type { DecidedState } from "../../../../../domain/files/file-state.ts";
import type { Fault } from "../../../../../lib/errors.ts";

export interface HostAsked {
  readonly companyId: number;
  /** Only files that this user has sent; all of the company without it. */
  readonly userName: string | undefined;
  /** A place that `HostFound` has named: what came before it. */
  readonly before?: string;
}

/** A file that has been decided about, as its receipt says. */
export interface HostReceipt {
  /** As in the address of the file's page, and in the receipt. */
  readonly reference: string;
  readonly name: string;
  readonly state: DecidedState;
  /** Milliseconds UTC. */
  readonly receivedAt: number;
  readonly decidedAt: number | null;
  readonly userName: string | null;
  readonly faults: readonly Fault[];
}

/** Where hosts send to; the name of the server is the one that the browser has used. */
export interface HostServers {
  /** Undefined where it is switched off, here and below. */
  readonly sftpPort: number | undefined;
  readonly ftpPort: number | undefined;
  /** Without it, passwords and files go over FTP in clear text. */
  readonly hasFtpTls: boolean;
  readonly http: { readonly scheme: "http" | "https"; readonly port: number; readonly basePath: string };
}

export interface HostFound {
  /** The newest first. */
  readonly receipts: readonly HostReceipt[];
  /** The place from which the search goes on; undefined when there are no more. */
  readonly before: string | undefined;
  /** The time was over before there were so many: up to here was looked, milliseconds UTC. */
  readonly searchedTo: number | undefined;
  /** Names of the custom integrations that the company may use. */
  readonly integrations: readonly string[];
}
