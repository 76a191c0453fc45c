/**
 * Reads one SFTP packet into a request. Whatever is wrong with a packet becomes a `refused` request that is answered in
 * its turn; only a packet without a readable request id breaks the stream.
 */
import { isUtf8 } from "node:buffer";
import { type AttributeChange, ExchangeError } from "../../exchange/exchange-session.ts";
import { BrokenStream } from "./packet-reader.ts";
import { attributeFlag, maxNameBytes, maxPathBytes, packetType } from "./wire.ts";

type OnPath = "stat" | "opendir" | "remove" | "mkdir" | "rmdir" | "realpath" | "statvfs";
type OnHandle = "close" | "fstat" | "readdir" | "fstatvfs" | "fsync";

export interface ReadRequest {
  readonly kind: "read";
  readonly id: number;
  readonly handle: string;
  readonly offset: number;
  readonly length: number;
}

export interface WriteRequest {
  readonly kind: "write";
  readonly id: number;
  readonly handle: string;
  readonly offset: number;
  readonly bytes: Buffer;
}

interface PathRequest<Kind> {
  readonly kind: Kind;
  readonly id: number;
  readonly path: string;
}

interface HandleRequest<Kind> {
  readonly kind: Kind;
  readonly id: number;
  readonly handle: string;
}

/** What cannot be done, whatever the state of the session. */
export interface RefusedRequest {
  readonly kind: "refused";
  readonly id: number;
  readonly reason: ExchangeError | MalformedPacket;
  /** Of a WRITE that cannot be understood: the upload that misses it. */
  readonly writeTo?: string;
}

/** One member of the union for each kind, so that a kind tells its own fields. */
type Each<Kind, Of extends "path" | "handle"> = Kind extends string
  ? Of extends "path"
    ? PathRequest<Kind>
    : HandleRequest<Kind>
  : never;

/** A request with an id. Handles are latin-1 text of their bytes. */
export type SftpRequest =
  | ReadRequest
  | WriteRequest
  | { readonly kind: "open"; readonly id: number; readonly path: string; readonly flags: number }
  | Each<OnPath, "path">
  | Each<OnHandle, "handle">
  | { readonly kind: "setstat"; readonly id: number; readonly path: string; readonly change: AttributeChange }
  | {
      readonly kind: "fsetstat";
      readonly id: number;
      readonly handle: string;
      readonly change: AttributeChange;
    }
  | {
      readonly kind: "rename";
      readonly id: number;
      readonly from: string;
      readonly to: string;
      readonly mayReplace: boolean;
    }
  | { readonly kind: "limits"; readonly id: number }
  | RefusedRequest;

export type SftpPacket = SftpRequest | { readonly kind: "init"; readonly version: number };

/** A packet that ends before its fields do. */
export class MalformedPacket extends Error {
  constructor(message: string) {
    super(message);
    this.name = "MalformedPacket";
  }
}

class Cursor {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  #advance(count: number): number {
    const at = this.#at;
    if (count > this.#bytes.length - at) throw new MalformedPacket("the packet ends before its fields do");
    this.#at = at + count;
    return at;
  }

  uint32(): number {
    return this.#bytes.readUInt32BE(this.#advance(4));
  }

  /** An unsigned 64-bit number, as far as it is exact. */
  uint64(): number {
    const at = this.#advance(8);
    const value = this.#bytes.readUInt32BE(at) * 2 ** 32 + this.#bytes.readUInt32BE(at + 4);
    if (value > Number.MAX_SAFE_INTEGER) throw new ExchangeError("tooLarge", "offsets end at 2^53");
    return value;
  }

  bytes(): Buffer {
    const length = this.uint32();
    const at = this.#advance(length);
    return this.#bytes.subarray(at, at + length);
  }

  latin1(): string {
    return this.bytes().toString("latin1");
  }

  /** A path, refused unless it is the same after a trip through text: else two names could become one. */
  path(): string {
    const bytes = this.bytes();
    if (bytes.length > maxPathBytes)
      throw new ExchangeError("badName", `a path has at most ${maxPathBytes} bytes`);
    if (!isUtf8(bytes)) throw new ExchangeError("badName", "the name is not valid UTF-8");
    const text = bytes.toString("utf8");
    if (text.includes("\0")) throw new ExchangeError("badName", "the name contains a NUL character");
    if (bytes.length > maxNameBytes) refuseLongNames(text);
    return text;
  }

  attributeChange(): AttributeChange {
    const flags = this.uint32();
    const change: { -readonly [Key in keyof AttributeChange]: AttributeChange[Key] } = {};
    if (flags & attributeFlag.size) change.size = this.uint64();
    // Owners are numbers of another machine: read past them.
    if (flags & attributeFlag.owner) this.#advance(8);
    if (flags & attributeFlag.permissions) change.mode = this.uint32() & 0o7777;
    if (flags & attributeFlag.times) {
      change.accessedSeconds = this.uint32();
      change.modifiedSeconds = this.uint32();
    }
    return change;
  }
}

function refuseLongNames(path: string): void {
  for (const name of path.split("/")) {
    if (Buffer.byteLength(name) > maxNameBytes) {
      throw new ExchangeError("badName", `a name has at most ${maxNameBytes} bytes`);
    }
  }
}

type ReadFields = (id: number, fields: Cursor) => SftpRequest;

function onPath(kind: OnPath): ReadFields {
  return (id, fields) => ({ kind, id, path: fields.path() });
}

function onHandle(kind: OnHandle): ReadFields {
  return (id, fields) => ({ kind, id, handle: fields.latin1() });
}

function rename(mayReplace: boolean): ReadFields {
  return (id, fields) => ({ kind: "rename", id, from: fields.path(), to: fields.path(), mayReplace });
}

function unsupported(what: string): ReadFields {
  return (id) => ({ kind: "refused", id, reason: new ExchangeError("unsupported", what) });
}

const extendedRequests = new Map<string, ReadFields>([
  ["posix-rename@openssh.com", rename(true)],
  ["statvfs@openssh.com", onPath("statvfs")],
  ["fstatvfs@openssh.com", onHandle("fstatvfs")],
  ["fsync@openssh.com", onHandle("fsync")],
  ["limits@openssh.com", (id) => ({ kind: "limits", id })],
]);

function extended(id: number, fields: Cursor): SftpRequest {
  const read = extendedRequests.get(fields.latin1()) ?? unsupported("this extension is not supported");
  return read(id, fields);
}

function realPath(id: number, fields: Cursor): SftpRequest {
  // Some clients ask for the empty path when they mean the folder they start in.
  const path = fields.path();
  return { kind: "realpath", id, path: path === "" ? "." : path };
}

function write(id: number, fields: Cursor): SftpRequest {
  const handle = fields.latin1();
  try {
    return { kind: "write", id, handle, offset: fields.uint64(), bytes: fields.bytes() };
  } catch (error) {
    return { ...refused(id, error), writeTo: handle };
  }
}

const readers = new Map<number, ReadFields>([
  [packetType.open, (id, fields) => ({ kind: "open", id, path: fields.path(), flags: fields.uint32() })],
  [packetType.close, onHandle("close")],
  [
    packetType.read,
    (id, f) => ({ kind: "read", id, handle: f.latin1(), offset: f.uint64(), length: f.uint32() }),
  ],
  [packetType.write, write],
  [packetType.lstat, onPath("stat")],
  [packetType.fstat, onHandle("fstat")],
  [
    packetType.setstat,
    (id, fields) => ({ kind: "setstat", id, path: fields.path(), change: fields.attributeChange() }),
  ],
  [
    packetType.fsetstat,
    (id, fields) => ({ kind: "fsetstat", id, handle: fields.latin1(), change: fields.attributeChange() }),
  ],
  [packetType.opendir, onPath("opendir")],
  [packetType.readdir, onHandle("readdir")],
  [packetType.remove, onPath("remove")],
  [packetType.mkdir, onPath("mkdir")],
  [packetType.rmdir, onPath("rmdir")],
  [packetType.realpath, realPath],
  [packetType.stat, onPath("stat")],
  [packetType.rename, rename(false)],
  [packetType.readlink, unsupported("links are not supported")],
  [packetType.symlink, unsupported("links are not supported")],
  [packetType.extended, extended],
]);

/** Reads a packet without its length field. Throws `BrokenStream` when not even a request id is there. */
export function readRequest(packet: Buffer): SftpPacket {
  const type = packet.readUInt8(0);
  if (packet.length < 5) throw new BrokenStream("a packet without a request id");
  const id = packet.readUInt32BE(1);
  if (type === packetType.init) return { kind: "init", version: id };
  const read = readers.get(type) ?? unsupported(`packet type ${type}`);
  try {
    return read(id, new Cursor(packet, 5));
  } catch (error) {
    return refused(id, error);
  }
}

function refused(id: number, error: unknown): RefusedRequest {
  if (error instanceof ExchangeError || error instanceof MalformedPacket) {
    return { kind: "refused", id, reason: error };
  }
  throw error;
}
