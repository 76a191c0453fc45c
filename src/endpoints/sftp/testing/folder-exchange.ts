/** A file exchange over a plain folder, without names, rights or durability: for tests and measurements of the protocol. */
import { constants } from "node:fs";
import {
  type FileHandle,
  mkdir,
  open,
  readdir,
  rename,
  rmdir,
  stat,
  statfs,
  truncate,
  unlink,
  utimes,
} from "node:fs/promises";
import { basename, join, posix } from "node:path";
import { statisticsOf } from "../../../exchange/uploads/disk-space.ts";
import {
  type AttributeChange,
  type ExchangeAttributes,
  type ExchangeEntry,
  ExchangeError,
  type ExchangeErrorKind,
  type ExchangePeer,
  type ExchangeSession,
  type FileExchange,
  type FileSystemStatistics,
  type OpenWriteFlags,
  type ReadHandle,
  type WriteHandle,
} from "../../../exchange/exchange-session.ts";
import { systemCodeOf } from "../../../lib/errors.ts";

/** What happened, in order: `open /a`, `write /a 0 5`, `close /a`, `end`. */
export type Journal = string[];

export interface FolderExchange extends FileExchange {
  readonly journal: Journal;
  readonly peers: ExchangePeer[];
  /** Paths whose upload was closed by the client. */
  readonly completed: string[];
  /** Set to make each write take so long. */
  writeDelayMs: number;
  /** Writes wait for it. */
  writesHeld: Promise<void> | undefined;
  sessionsOpen: number;
}

const kindOfCode: Readonly<Record<string, ExchangeErrorKind>> = {
  ENOENT: "noSuchFile",
  EEXIST: "alreadyExists",
  ENOTDIR: "notADirectory",
  EISDIR: "isADirectory",
  EACCES: "permissionDenied",
};

async function translated<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new ExchangeError(kindOfCode[systemCodeOf(error) ?? ""] ?? "failure", "", error);
  }
}

async function attributesOf(target: string | FileHandle): Promise<ExchangeAttributes> {
  const stats = await translated(typeof target === "string" ? stat(target) : target.stat());
  return {
    isDirectory: stats.isDirectory(),
    size: stats.size,
    mode: stats.mode & 0o7777,
    modifiedSeconds: Math.floor(stats.mtimeMs / 1000),
    accessedSeconds: Math.floor(stats.atimeMs / 1000),
  };
}

async function readFrom(file: FileHandle, offset: number, length: number): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafe(length);
  const { bytesRead } = await file.read(bytes, 0, length, offset);
  return bytes.subarray(0, bytesRead);
}

function modeOf(flags: OpenWriteFlags): number {
  return (
    constants.O_RDWR |
    (flags.create ? constants.O_CREAT : 0) |
    (flags.truncate ? constants.O_TRUNC : 0) |
    (flags.exclusive ? constants.O_EXCL : 0) |
    (flags.append ? constants.O_APPEND : 0)
  );
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

class FolderSession implements ExchangeSession {
  readonly #root: string;
  readonly #owner: FolderExchange;
  readonly #open = new Set<FileHandle>();

  constructor(root: string, owner: FolderExchange) {
    this.#root = root;
    this.#owner = owner;
    owner.sessionsOpen += 1;
  }

  #local(path: string): string {
    return join(this.#root, posix.resolve("/", path));
  }

  async realPath(path: string): Promise<string> {
    return posix.resolve("/", path);
  }

  stat(path: string): Promise<ExchangeAttributes> {
    return attributesOf(this.#local(path));
  }

  rightsAt() {
    return { get: true, put: true, remove: true, rename: true };
  }

  async list(path: string): Promise<AsyncIterable<readonly ExchangeEntry[]>> {
    const folder = this.#local(path);
    const names = await translated(readdir(folder));
    return pagesOf(folder, names);
  }

  async openRead(path: string): Promise<ReadHandle> {
    const file = await translated(open(this.#local(path), "r"));
    return {
      kind: "read",
      attributes: () => attributesOf(file),
      read: (offset, length) => readFrom(file, offset, length),
      close: () => file.close(),
      abandon: () => file.close(),
    };
  }

  async openWrite(path: string, flags: OpenWriteFlags): Promise<WriteHandle> {
    const { journal, completed } = this.#owner;
    const file = await translated(open(this.#local(path), modeOf(flags), 0o640));
    this.#open.add(file);
    journal.push(`open ${path}`);
    const owner = this.#owner;
    return {
      kind: "write",
      attributes: () => attributesOf(file),
      read: (offset, length) => readFrom(file, offset, length),
      async write(offset, bytes) {
        if (owner.writeDelayMs > 0) await delay(owner.writeDelayMs);
        await owner.writesHeld;
        await file.write(bytes, 0, bytes.length, flags.append ? null : offset);
        journal.push(`write ${path} ${offset} ${bytes.length}`);
      },
      fail: (reason) => void journal.push(`fail ${path} ${reason.message}`),
      change: (change) => applyChange(file, change),
      sync: async () => {
        journal.push(`sync ${path}`);
        await file.datasync();
      },
      close: async () => {
        this.#open.delete(file);
        await file.close();
        journal.push(`close ${path}`);
        completed.push(basename(path));
      },
      abandon: async () => {
        if (this.#open.delete(file)) await file.close();
      },
    };
  }

  async change(path: string, change: AttributeChange): Promise<void> {
    const local = this.#local(path);
    await translated(stat(local));
    if (change.size !== undefined) await translated(truncate(local, change.size));
    if (change.modifiedSeconds === undefined) return;
    await translated(utimes(local, change.accessedSeconds ?? change.modifiedSeconds, change.modifiedSeconds));
  }

  async remove(path: string): Promise<void> {
    await translated(unlink(this.#local(path)));
  }

  async makeDirectory(path: string): Promise<void> {
    await translated(mkdir(this.#local(path)));
  }

  async removeDirectory(path: string): Promise<void> {
    await translated(rmdir(this.#local(path)));
  }

  async rename(from: string, to: string, options: { mayReplace: boolean }): Promise<void> {
    const target = this.#local(to);
    const exists = await stat(target).then(
      () => true,
      () => false,
    );
    if (exists && !options.mayReplace) throw new ExchangeError("alreadyExists", "");
    await translated(rename(this.#local(from), target));
  }

  async statistics(path: string): Promise<FileSystemStatistics> {
    return statisticsOf(await translated(statfs(this.#local(path))));
  }

  async end(): Promise<void> {
    for (const file of this.#open) await file.close();
    this.#owner.sessionsOpen -= 1;
    this.#owner.journal.push("end");
  }
}

async function* pagesOf(folder: string, names: readonly string[]): AsyncGenerator<ExchangeEntry[]> {
  for (let at = 0; at < names.length; at += 256) {
    const page = names.slice(at, at + 256);
    yield await Promise.all(
      page.map(async (name) => ({ name, attributes: await attributesOf(join(folder, name)) })),
    );
  }
}

async function applyChange(file: FileHandle, change: AttributeChange): Promise<void> {
  if (change.size !== undefined) await file.truncate(change.size);
  if (change.modifiedSeconds === undefined) return;
  await file.utimes(change.accessedSeconds ?? change.modifiedSeconds, change.modifiedSeconds);
}

export function createFolderExchange(root: string): FolderExchange {
  const exchange: FolderExchange = {
    journal: [],
    peers: [],
    completed: [],
    writeDelayMs: 0,
    writesHeld: undefined,
    sessionsOpen: 0,
    openSession(peer) {
      exchange.peers.push(peer);
      return new FolderSession(root, exchange);
    },
  };
  return exchange;
}
