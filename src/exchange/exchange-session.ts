/**
 * The file exchange as a signed-in user sees it, whatever the protocol: SFTP and FTP.
 *
 * A protocol endpoint turns its packets into these calls and the errors into its own codes; names, rights, uploads and
 * durability are decided here and nowhere else (specification/file-exchange.md#complete-files).
 */
import { systemCodeOf } from "../lib/errors.ts";

/** Why a call was refused; each protocol maps a kind once. The message is safe to show to the client. */
export type ExchangeErrorKind =
  | "noSuchFile"
  | "permissionDenied"
  | "alreadyExists"
  | "badName"
  | "notADirectory"
  | "isADirectory"
  | "tooLarge"
  | "noSpace"
  | "tooManyWaiting"
  | "unsupported"
  | "failure";

export class ExchangeError extends Error {
  readonly kind: ExchangeErrorKind;

  constructor(kind: ExchangeErrorKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "ExchangeError";
    this.kind = kind;
  }
}

const full = "The server's disk is full; what was received so far is kept and can be resumed";
const closed = "The server cannot write to this folder; ask its administrator";
const none = "No such file";

/** What a system error means to a client. Texts name no path of the machine; that stays in the cause. */
const faults: Readonly<Record<string, readonly [ExchangeErrorKind, string]>> = {
  ENOENT: ["noSuchFile", none],
  ENOTDIR: ["noSuchFile", none],
  // Links are not part of the tree.
  ELOOP: ["noSuchFile", none],
  EEXIST: ["alreadyExists", "A file of this name exists already"],
  EISDIR: ["isADirectory", "This is a folder"],
  ENAMETOOLONG: ["badName", "The name is too long"],
  ENOSPC: ["noSpace", full],
  EDQUOT: ["noSpace", full],
  EFBIG: ["tooLarge", "The file is larger than the server's disk allows"],
  EROFS: ["failure", closed],
  EACCES: ["failure", closed],
  EPERM: ["failure", closed],
};

/** Translates what the disk threw, once; an ExchangeError stays what it is. */
export function exchangeErrorOf(thrown: unknown): ExchangeError {
  if (thrown instanceof ExchangeError) return thrown;
  const code = systemCodeOf(thrown) ?? "";
  const known = faults[code];
  if (known !== undefined) return new ExchangeError(known[0], known[1], thrown);
  return new ExchangeError(
    "failure",
    `The server could not do this${code === "" ? "" : ` (${code})`}`,
    thrown,
  );
}

export const noSuchFile = (): ExchangeError => new ExchangeError("noSuchFile", none);

export const denied = (message: string): ExchangeError => new ExchangeError("permissionDenied", message);

/** A refusal in words for a client, which begin with its kind; `message` may be empty. */
export function refusalText(kind: string, message: string): string {
  if (message === "") return kind;
  return message.toLowerCase().startsWith(kind.toLowerCase()) ? message : `${kind}: ${message}`;
}

/** A file or folder as clients see it. Times are seconds since the epoch, as in SFTP v3. */
export interface ExchangeAttributes {
  readonly isDirectory: boolean;
  readonly size: number;
  /** Permission bits without the file type, for example 0o640. */
  readonly mode: number;
  readonly modifiedSeconds: number;
  readonly accessedSeconds: number;
}

export interface ExchangeEntry {
  readonly name: string;
  readonly attributes: ExchangeAttributes;
}

/** What a client may ask to change; anything but times and the size of an own open upload is ignored or refused. */
export interface AttributeChange {
  readonly size?: number;
  readonly mode?: number;
  readonly modifiedSeconds?: number;
  readonly accessedSeconds?: number;
}

export interface ReadHandle {
  readonly kind: "read";
  attributes(): Promise<ExchangeAttributes>;
  /** At most `length` bytes from `offset`; an empty result means the end of the file. */
  read(offset: number, length: number): Promise<Uint8Array>;
  close(): Promise<void>;
  /** Ends an interrupted read: it does not count as picked up, unless the client reads the rest another time. */
  abandon(): Promise<void>;
}

export interface WriteHandle {
  readonly kind: "write";
  attributes(): Promise<ExchangeAttributes>;
  /**
   * To be called one after the other. Bytes may be kept by the handle until the promise resolves. With an append handle
   * `offset` is ignored. A hole may be filled later: at most 64 of them, and nothing more than 64 MiB behind the first.
   * When one write fails, all that follow and the close fail.
   */
  write(offset: number, bytes: Uint8Array): Promise<void>;
  /** A write could not even be understood: all that follow and the close fail. */
  fail(reason: ExchangeError): void;
  /** Reading back what an own open upload holds (sshfs and others open read-write). */
  read(offset: number, length: number): Promise<Uint8Array>;
  change(change: AttributeChange): Promise<void>;
  /** Makes what was written so far durable, without completing the upload. */
  sync(): Promise<void>;
  /**
   * The client closed the handle: the upload is complete. Resolves only when it survives a power failure under its final
   * name (or, for a name that says "unfinished", as an unfinished file).
   */
  close(): Promise<void>;
  /** The upload was interrupted while the session goes on: the bytes stay as an unfinished part. Nothing after `close`. */
  abandon(): Promise<void>;
}

export interface OpenWriteFlags {
  readonly create: boolean;
  readonly truncate: boolean;
  readonly exclusive: boolean;
  readonly append: boolean;
}

/** Free space as `statvfs` gives it. */
export interface FileSystemStatistics {
  readonly blockSize: number;
  readonly blocks: number;
  readonly blocksFree: number;
  readonly blocksAvailable: number;
  readonly files: number;
  readonly filesFree: number;
  readonly isReadOnly: boolean;
}

/** What the user may do with a file, or (`put`) in a folder. */
export interface ExchangeRights {
  readonly get: boolean;
  readonly put: boolean;
  readonly remove: boolean;
  readonly rename: boolean;
}

/** One connection of one user. Paths are client paths with `/`, absolute or relative to `/`. */
export interface ExchangeSession {
  /** The normalised absolute path; never leaves the root. Rejects names that are refused (`badName`). */
  realPath(path: string): Promise<string>;
  stat(path: string): Promise<ExchangeAttributes>;
  /** By the path alone, whatever lies there. Throws `badName`. */
  rightsAt(path: string): ExchangeRights;
  /**
   * Entries in pages, so that a folder of 100,000 files is not held as one answer. Whoever stops in the middle calls the
   * iterator's `return` (leaving a `for await` does) or ends the session; until then the folder stays open.
   */
  list(path: string): Promise<AsyncIterable<readonly ExchangeEntry[]>>;
  openRead(path: string): Promise<ReadHandle>;
  openWrite(path: string, flags: OpenWriteFlags): Promise<WriteHandle>;
  change(path: string, change: AttributeChange): Promise<void>;
  remove(path: string): Promise<void>;
  makeDirectory(path: string): Promise<void>;
  removeDirectory(path: string): Promise<void>;
  /** Fails with `alreadyExists` when the target exists, unless `mayReplace`. */
  rename(from: string, to: string, options: { mayReplace: boolean }): Promise<void>;
  statistics(path: string): Promise<FileSystemStatistics>;
  /** The link ended. Uploads whose handle is still open become unfinished parts, never files. */
  end(): Promise<void>;
}

/** The program at the far end of the connection. */
export interface ExchangePeer {
  readonly userId: number;
  readonly userName: string;
  /** Companies in which the user may exchange files; with more than one, each is a folder of the root. */
  readonly companies: readonly { readonly id: number; readonly code: string }[];
  readonly channel: "sftp" | "ftp";
  readonly address: string;
  readonly connectionId: string;
}

export interface FileExchange {
  openSession(peer: ExchangePeer): ExchangeSession;
}
