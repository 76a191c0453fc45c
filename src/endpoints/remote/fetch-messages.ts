/**
 * The messages between a remote's client and its thread, besides those of all such threads (`src/remote/thread-jobs.ts`).
 * One call at a time.
 *
 *   client → thread   call      what to do
 *                     more      whether to send another portion of the listing; the thread waits for it
 *   thread → client   portion   entries of the listing
 */
import type { FailedOutcome } from "../../domain/outbound/delivery-fault.ts";
import type { RemoteVersion } from "../../domain/files/remote-version.ts";
import type { ListedEntry } from "../../remote/remote-session.ts";
import type { ServerSettings } from "../../remote/server-settings.ts";

export interface FetchSettings {
  readonly server: ServerSettings;
  /** The folder to poll; undefined for the one where the sign-in leads. */
  readonly directory: string | undefined;
  readonly moveTo: string | undefined;
}

/** A file as listed. */
export interface RemoteFile extends RemoteVersion {
  readonly name: string;
}

export interface FetchedFile extends RemoteFile {
  /** From `RemoteSession.changedAt`, before the download. */
  readonly changedAt: string | undefined;
}

export type FetchCall =
  /** Lists the folder, after a check that `moveTo` is there. */
  | { readonly kind: "list" }
  /** Writes a file to `path`, which must not be there, and makes it durable. */
  | { readonly kind: "fetch"; readonly file: RemoteFile; readonly path: string }
  | { readonly kind: "remove"; readonly file: FetchedFile }
  | { readonly kind: "move"; readonly file: FetchedFile };

export type CallOutcome =
  /** `isWhole`: all entries have been given. */
  | { readonly kind: "listed"; readonly isWhole: boolean }
  | { readonly kind: "fetched"; readonly sha256: string; readonly changedAt: string | undefined }
  | { readonly kind: "settled" }
  /** The file has changed since it was listed, or it is gone. */
  | { readonly kind: "changed"; readonly why: string }
  /** The server refuses the call for this file; others may succeed. */
  | { readonly kind: "refused"; readonly message: string }
  /** A fault of the server, the link or the configuration: other calls would fail as well. */
  | FailedOutcome
  /** A fault of our own, such as a full disk. */
  | { readonly kind: "ownFault"; readonly message: string };

export type ToFetchThread =
  | { readonly kind: "call"; readonly id: number; readonly call: FetchCall }
  | { readonly kind: "more"; readonly id: number; readonly isWanted: boolean };

export interface FromFetchThread {
  readonly kind: "portion";
  readonly id: number;
  readonly entries: readonly ListedEntry[];
}
