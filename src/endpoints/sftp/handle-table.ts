import { randomFillSync } from "node:crypto";
import {
  type ExchangeEntry,
  ExchangeError,
  type ReadHandle,
  type WriteHandle,
} from "../../exchange/exchange-session.ts";

export interface OpenFile {
  readonly path: string;
  readonly openedAtMs: number;
  /** Bytes read or written so far. */
  bytes: number;
}

export interface OpenForReading extends OpenFile {
  readonly kind: "read";
  readonly file: ReadHandle;
}

export interface OpenForWriting extends OpenFile {
  readonly kind: "write";
  readonly file: WriteHandle;
  readonly mayRead: boolean;
}

export interface OpenFolder {
  readonly kind: "folder";
  readonly path: string;
  readonly pages: AsyncIterator<readonly ExchangeEntry[]>;
  /** Entries of the last page that did not fit into a reply yet. */
  waiting: readonly ExchangeEntry[];
}

export type OpenHandle = OpenForReading | OpenForWriting | OpenFolder;

const handleBytes = 16;

/** What one session holds open, under names that cannot be guessed. */
export class HandleTable {
  readonly maxHandles: number;
  readonly #handles = new Map<string, OpenHandle>();
  /** Places promised to opens that are still under way. */
  #reserved = 0;

  constructor(maxHandles: number) {
    this.maxHandles = maxHandles;
  }

  /** Opens under a place kept free for it, so that nothing is opened that cannot be held. */
  async open(openHandle: () => Promise<OpenHandle>): Promise<string> {
    if (this.#handles.size + this.#reserved >= this.maxHandles) {
      throw new ExchangeError(
        "failure",
        `too many open handles (at most ${this.maxHandles}); close some first`,
      );
    }
    this.#reserved += 1;
    try {
      const opened = await openHandle();
      const name = randomFillSync(Buffer.allocUnsafe(handleBytes)).toString("latin1");
      this.#handles.set(name, opened);
      return name;
    } finally {
      this.#reserved -= 1;
    }
  }

  get isWriting(): boolean {
    for (const handle of this.#handles.values()) if (handle.kind === "write") return true;
    return false;
  }

  find(name: string): OpenHandle | undefined {
    return this.#handles.get(name);
  }

  get(name: string): OpenHandle {
    const handle = this.#handles.get(name);
    if (handle === undefined) throw new ExchangeError("failure", "the handle is not open");
    return handle;
  }

  /** Removes a handle from the table; closing it is the caller's. */
  take(name: string): OpenHandle {
    const handle = this.get(name);
    this.#handles.delete(name);
    return handle;
  }

  takeAll(): OpenHandle[] {
    const all = [...this.#handles.values()];
    this.#handles.clear();
    return all;
  }
}
