/**
 * A client whose listings are handed over while they come: the library's own keep all of a listing in memory, and refuse a
 * long one.
 */
import { Writable } from "node:stream";
import { Client, type FileInfo, FileType } from "basic-ftp";
import { downloadTo } from "basic-ftp/dist/transfer.js";
import { messageOf } from "../lib/errors.ts";
import type { ListedEntry, TakeEntries } from "./remote-session.ts";
import { quoted, TransferFault } from "./transfer-fault.ts";
import { portionsOf } from "../lib/portions.ts";

/** No server writes a line this long. */
const maxLineBytes = 64 * 1024;
const entriesAtOnce = 500;

const kinds: Readonly<Record<FileType, ListedEntry["kind"]>> = {
  [FileType.File]: "file",
  [FileType.Directory]: "folder",
  [FileType.SymbolicLink]: "link",
  [FileType.Unknown]: "other",
};

function entryOf({ name, type, size, modifiedAt, rawModifiedAt }: FileInfo): ListedEntry {
  const modified = modifiedAt === undefined ? rawModifiedAt : String(modifiedAt.getTime());
  return { name, kind: kinds[type], size, modified };
}

/** The listing was cut because no more of it is wanted. */
export class ListingCut extends Error {}

function listingFault(why: string): TransferFault {
  const words = `its listing cannot be read: ${quoted(why)}`;
  return new TransferFault("protocol", `${words}. The form of \`ls -l\`, that of DOS and MLSD are known.`, {
    scope: "target",
  });
}

/** Makes entries of the lines as they come. */
class ListingReader extends Writable {
  readonly #parse: (lines: string) => FileInfo[];
  readonly #take: TakeEntries;
  #rest: Buffer = Buffer.alloc(0);

  constructor(parse: (lines: string) => FileInfo[], take: TakeEntries) {
    super();
    this.#parse = parse;
    this.#take = take;
  }

  override _write(piece: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    const bytes = Buffer.concat([this.#rest, piece]);
    const end = bytes.lastIndexOf(0x0a) + 1;
    this.#rest = bytes.subarray(end);
    if (this.#rest.length > maxLineBytes) done(listingFault(`a line of more than ${maxLineBytes} bytes`));
    else this.#hand(bytes.subarray(0, end)).then(() => done(), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#hand(this.#rest).then(() => done(), done);
  }

  async #hand(lines: Buffer): Promise<void> {
    const entries = this.#entriesOf(lines.toString("utf8"));
    for (const some of portionsOf(entries, entriesAtOnce))
      if (!(await this.#take(some))) throw new ListingCut();
  }

  #entriesOf(lines: string): ListedEntry[] {
    try {
      return this.#parse(lines)
        .map(entryOf)
        .filter(({ name }) => name !== "." && name !== "..");
    } catch (error) {
      throw listingFault(messageOf(error));
    }
  }
}

export class ListingClient extends Client {
  #take: TakeEntries | undefined;

  /** Rejects with `ListingCut` when no more was wanted; the client is closed then. */
  async listTo(take: TakeEntries): Promise<void> {
    this.#take = take;
    try {
      await this.list();
    } finally {
      this.#take = undefined;
    }
  }

  protected override async _requestListWithCommand(command: string): Promise<FileInfo[]> {
    if (this.#take === undefined) return await super._requestListWithCommand(command);
    const reader = new ListingReader((lines) => this.parseList(lines), this.#take);
    const { ftp, _progressTracker: tracker } = this;
    await downloadTo(reader, { ftp, tracker, command, remotePath: "", type: "list" });
    return [];
  }
}
