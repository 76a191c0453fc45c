/**
 * Reads one SFTP packet into a request. A faulty packet becomes a `refused` request, which is answered in its turn; only a
 * packet without a request id breaks the stream.
 */
import { isUtf8 } from "node:buffer";
import { type AttributeChange, ExchangeError } from "../../exchange/exchange-session.ts";
import { BrokenStream } from "./packet-reader.ts";
import { attributeFlag, maxNameBytes, maxPathBytes, packetType } from "./wire.ts";

interface OnPath {
  readonly path: string;
}

/** Handles are latin-1 text of their bytes. */
interface OnHandle {
  readonly handle: string;
}

type PathKind = "stat" | "opendir" | "remove" | "mkdir" | "rmdir" | "realpath" | "statvfs";
type HandleKind = "close" | "fstat" | "readdir" | "fstatvfs" | "fsync";

/** The fields of each kind of request, besides its id. */
interface RequestFields extends Record<PathKind, OnPath>, Record<HandleKind, OnHandle> {
  open: OnPath & { readonly flags: number };
  read: OnHandle & { readonly offset: number; readonly length: number };
  write: OnHandle & { readonly offset: number; readonly bytes: Buffer };
  setstat: OnPath & { readonly change: AttributeChange };
  fsetstat: OnHandle & { readonly change: AttributeChange };
  rename: { readonly from: string; readonly to: string; readonly mayReplace: boolean };
  limits: object;
  /** A request that cannot be done, whatever the state of the session; `writeTo`: the upload that misses a WRITE. */
  refused: { readonly reason: ExchangeError | MalformedPacket; readonly writeTo?: string };
}

type Kind = keyof RequestFields;

export type RequestOf<One extends Kind> = { readonly kind: One; readonly id: number } & RequestFields[One];

/** A request with an id. */
export type SftpRequest = { [Each in Kind]: RequestOf<Each> }[Kind];

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

  /** A path; refuses one that differs after a trip through text: else two names could become one. */
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
    if (Buffer.byteLength(name) > maxNameBytes)
      throw new ExchangeError("badName", `a name has at most ${maxNameBytes} bytes`);
  }
}

type ReadFields = (id: number, fields: Cursor) => SftpRequest;

function onPath(kind: PathKind): ReadFields {
  return (id, fields) => ({ kind, id, path: fields.path() });
}

function onHandle(kind: HandleKind): ReadFields {
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

/** Reads a packet without its length field. Throws `BrokenStream` when there is no request id. */
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

function refused(id: number, error: unknown): RequestOf<"refused"> {
  if (error instanceof ExchangeError || error instanceof MalformedPacket)
    return { kind: "refused", id, reason: error };
  throw error;
}
