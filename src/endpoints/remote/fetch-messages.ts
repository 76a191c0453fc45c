/**
 * What a remote's client and its thread say to each other, besides what all such threads are told and say
 * (`src/remote/thread-jobs.ts`). One call at a time.
 *
 *   client → thread   call      what to do
 *                     more      whether another portion of the listing is wanted; none comes before that is said
 *   thread → client   portion   entries of the listing
 */
import type { FailedOutcome } from "../../domain/outbound/delivery-fault.ts";
import type { RemoteVersion } from "../../domain/files/remote-version.ts";
import type { ListedEntry } from "../../remote/remote-session.ts";
import type { ServerSettings } from "../../remote/server-settings.ts";

export interface FetchSettings {
  readonly server: ServerSettings;
  /** The folder that is polled; undefined is where the sign-in leads. */
  readonly directory: string | undefined;
  /** Where files are moved to that have been taken. */
  readonly moveTo: string | undefined;
}

/** A file as the listing told of it. */
export interface RemoteFile extends RemoteVersion {
  readonly name: string;
}

/** A file that has been fetched. */
export interface FetchedFile extends RemoteFile {
  /** When it had been changed, as `RemoteSession.changedAt` told it; undefined when it did not. */
  readonly changedAt: string | undefined;
}

export type FetchCall =
  /** Lists the folder, having looked that `moveTo` is there. */
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
  /** It is not the file any more that was listed, or it is gone. */
  | { readonly kind: "changed"; readonly why: string }
  /** The server does not let us have this file, or do that with it; others may fare better. */
  | { readonly kind: "refused"; readonly message: string }
  /** A fault of the server, the link or the configuration: nothing else need be tried for now. */
  | FailedOutcome
  /** A fault of this side, such as a full disk. */
  | { readonly kind: "ownFault"; readonly message: string };

export type ToFetchThread =
  | { readonly kind: "call"; readonly id: number; readonly call: FetchCall }
  | { readonly kind: "more"; readonly id: number; readonly isWanted: boolean };

export interface FromFetchThread {
  readonly kind: "portion";
  readonly id: number;
  readonly entries: readonly ListedEntry[];
}
