/** Builds SFTP replies, each a list of pieces to be sent one after the other. */
import type {
  ExchangeAttributes,
  ExchangeEntry,
  FileSystemStatistics,
} from "../../exchange/exchange-session.ts";
import { longNameOf } from "../../exchange/connections/long-name.ts";
import {
  attributeFlag,
  extensions,
  maxPacketBytes,
  maxTransferBytes,
  packetType,
  type StatusCode,
  statusCode,
} from "./wire.ts";

export type Reply = readonly Uint8Array[];

const attributesBytes = 24;
const fileTypeBits = { directory: 0o040000, file: 0o100000 } as const;

/** A packet with its length, type and request id written; `bodyBytes` are left to be filled from offset 9. */
function packet(type: number, id: number, bodyBytes: number, followingBytes = 0): Buffer {
  const bytes = Buffer.allocUnsafe(9 + bodyBytes);
  bytes.writeUInt32BE(5 + bodyBytes + followingBytes, 0);
  bytes.writeUInt8(type, 4);
  bytes.writeUInt32BE(id, 5);
  return bytes;
}

function putString(bytes: Buffer, text: string, at: number): number {
  const length = bytes.write(text, at + 4);
  bytes.writeUInt32BE(length, at);
  return at + 4 + length;
}

function putUint64(bytes: Buffer, value: number, at: number): number {
  bytes.writeUInt32BE(Math.floor(value / 2 ** 32), at);
  return bytes.writeUInt32BE(value % 2 ** 32, at + 4);
}

function clampSeconds(seconds: number): number {
  return Math.min(Math.max(Math.floor(seconds), 0), 0xffffffff);
}

function putAttributes(bytes: Buffer, attributes: ExchangeAttributes, at: number): number {
  const type = attributes.isDirectory ? fileTypeBits.directory : fileTypeBits.file;
  const flags = attributeFlag.size | attributeFlag.permissions | attributeFlag.times;
  let next = bytes.writeUInt32BE(flags, at);
  next = putUint64(bytes, attributes.size, next);
  next = bytes.writeUInt32BE(type | (attributes.mode & 0o7777), next);
  next = bytes.writeUInt32BE(clampSeconds(attributes.accessedSeconds), next);
  return bytes.writeUInt32BE(clampSeconds(attributes.modifiedSeconds), next);
}

export function versionReply(): Reply {
  const texts = extensions.flat();
  const size = texts.reduce((sum, text) => sum + 4 + text.length, 0);
  // VERSION has no request id: its place holds the version number.
  const bytes = packet(packetType.version, 3, size);
  let at = 9;
  for (const text of texts) at = putString(bytes, text, at);
  return [bytes];
}

export function statusReply(id: number, code: StatusCode, text: string): Reply {
  const length = Buffer.byteLength(text);
  const bytes = packet(packetType.status, id, 12 + length);
  bytes.writeUInt32BE(code, 9);
  const end = putString(bytes, text, 13);
  // The language of the text is left empty.
  bytes.writeUInt32BE(0, end);
  return [bytes];
}

export function okReply(id: number): Reply {
  return statusReply(id, statusCode.ok, "Success");
}

export function endOfFileReply(id: number): Reply {
  return statusReply(id, statusCode.endOfFile, "End of file");
}

export function handleReply(id: number, handle: string): Reply {
  const bytes = packet(packetType.handle, id, 4 + handle.length);
  bytes.writeUInt32BE(handle.length, 9);
  bytes.write(handle, 13, "latin1");
  return [bytes];
}

export function dataReply(id: number, data: Uint8Array): Reply {
  const head = packet(packetType.data, id, 4, data.length);
  head.writeUInt32BE(data.length, 9);
  return [head, data];
}

export function attributesReply(id: number, attributes: ExchangeAttributes): Reply {
  const bytes = packet(packetType.attrs, id, attributesBytes);
  putAttributes(bytes, attributes, 9);
  return [bytes];
}

/** A NAME packet; entries carry an `ls -l` line, which clients show as it is. */
export function entriesReply(id: number, entries: readonly ExchangeEntry[], nowSeconds: number): Reply {
  const parts: Buffer[] = [];
  let size = 0;
  for (const entry of entries) {
    const longName = longNameOf(entry, nowSeconds);
    const bytes = Buffer.allocUnsafe(
      8 + Buffer.byteLength(entry.name) + Buffer.byteLength(longName) + attributesBytes,
    );
    putAttributes(bytes, entry.attributes, putString(bytes, longName, putString(bytes, entry.name, 0)));
    parts.push(bytes);
    size += bytes.length;
  }
  const head = packet(packetType.name, id, 4, size);
  head.writeUInt32BE(entries.length, 9);
  return [head, ...parts];
}

/** The answer to REALPATH: one name without attributes, as the protocol wants it. */
export function realPathReply(id: number, path: string): Reply {
  const length = Buffer.byteLength(path);
  const bytes = packet(packetType.name, id, 4 + 2 * (4 + length) + 4);
  bytes.writeUInt32BE(1, 9);
  const end = putString(bytes, path, putString(bytes, path, 13));
  bytes.writeUInt32BE(0, end);
  return [bytes];
}

const readOnlyFlag = 1;
const noSetuidFlag = 2;

export function statisticsReply(id: number, statistics: FileSystemStatistics): Reply {
  const bytes = packet(packetType.extendedReply, id, 11 * 8);
  const values = [
    statistics.blockSize,
    statistics.blockSize,
    statistics.blocks,
    statistics.blocksFree,
    statistics.blocksAvailable,
    statistics.files,
    statistics.filesFree,
    statistics.filesFree,
    0,
    (statistics.isReadOnly ? readOnlyFlag : 0) | noSetuidFlag,
    255,
  ];
  let at = 9;
  for (const value of values) at = putUint64(bytes, value, at);
  return [bytes];
}

export function limitsReply(id: number, maxOpenHandles: number): Reply {
  const bytes = packet(packetType.extendedReply, id, 4 * 8);
  let at = 9;
  for (const value of [maxPacketBytes, maxTransferBytes, maxTransferBytes, maxOpenHandles])
    at = putUint64(bytes, value, at);
  return [bytes];
}
