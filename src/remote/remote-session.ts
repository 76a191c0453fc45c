/** One signed-in connection to a server that keeps files, whatever its protocol. One call at a time. */

export type OpeningStep = "connecting" | "signing in";

/** What has a name: its size where the server gives it. */
export interface RemoteEntry {
  readonly size: number | undefined;
  readonly isFile: boolean;
  /** As `ListedEntry.modified`, where it can be asked for in the same words. */
  readonly modified?: string;
}

/** One name of a listing. */
export interface ListedEntry {
  readonly name: string;
  readonly kind: "file" | "folder" | "link" | "other";
  /** Bytes. */
  readonly size: number;
  /** When it was changed, as the server writes it; only ever compared. */
  readonly modified: string;
}

/** Takes a portion of a listing; false when no more of it is wanted. */
export type TakeEntries = (entries: readonly ListedEntry[]) => Promise<boolean>;

/** Every call rejects with a `TransferFault`. */
export interface RemoteSession {
  readonly isOpen: boolean;
  /** Connects, checks who answers, signs in. */
  open(step: (step: OpeningStep) => void): Promise<void>;
  /**
   * Goes to the target's folder, and to one within it. What is missing is made when `makesFolders`; the inner one always.
   */
  enter(place: RemotePlace): Promise<void>;
  /** In the folder that was entered, as all that follows. Undefined when the name is free. */
  look(name: string): Promise<RemoteEntry | undefined>;
  /**
   * When a file was changed, as the server writes it, where `look` does not give that: only ever compared with what an
   * earlier call has given. Undefined when the server does not say.
   */
  changedAt(name: string): Promise<string | undefined>;
  /** The bytes of a file, at most `maxBytes` and one more; undefined when they may not be read. */
  read(name: string, maxBytes: number): Promise<Uint8Array | undefined>;
  /** Writes or overwrites. */
  upload(name: string, bytes: Uint8Array): Promise<void>;
  /** The caller has seen that the new name is free; a server that can refuse to overwrite is asked to. */
  rename(from: string, to: string): Promise<void>;
  /** No fault when there is none. */
  remove(name: string): Promise<void>;
  /** Gives the entries of the folder in portions; true when it has given all. A session whose listing was cut may be closed. */
  list(take: TakeEntries): Promise<boolean>;
  /** Hands over a file piece by piece. What `write` rejects with ends it, and the session may be closed then. */
  download(name: string, write: (piece: Uint8Array) => Promise<void>): Promise<void>;
  /** Rejects unless there is such a folder, and stays where it is. `path` as that of `enter`. */
  checkFolder(path: string): Promise<void>;
  /** Whether a folder (`path` as that of `enter`) has an entry of that name. */
  isTaken(path: string, name: string): Promise<boolean>;
  /** Moves a file of the folder that was entered into another one. The caller has seen that the name is free there. */
  move(name: string, path: string, newName: string): Promise<void>;
  /** Whether its disk has no room left, as far as it can be asked; false else. */
  isFull(): Promise<boolean>;
  /** Says goodbye where that takes no time. */
  end(): void;
  /** Cuts the connection: what is under way rejects. */
  destroy(): void;
}

export interface RemotePlace {
  readonly directory: string | undefined;
  readonly inner: string | undefined;
  readonly makesFolders: boolean;
}
