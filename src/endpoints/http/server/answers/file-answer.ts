/**
 * Sends a file, or the part of it that the request wants, as fast as the client takes it.
 *
 *   selected -> opened -> first bytes read -> head sent -> streamed -> ended
 *         \_________\__________\_> refused
 *
 * The head waits for the first bytes: a file that cannot be opened or read gets a refusal like any other. A failure after the
 * head destroys the connection: the head has announced the length, so the client sees that the answer is not whole.
 */
import { type FileHandle, open } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { systemCodeOf } from "../../../../lib/errors.ts";
import type { FileBody } from "../answer.ts";
import type { Selection } from "../byte-range.ts";

/** The result of a streamed answer. */
export interface Streamed {
  /** 0 when the client was gone. */
  readonly status: number;
  readonly bytes: number;
  /** A failure of our own, unlike a client that leaves. */
  readonly failure?: unknown;
}

export interface FileHead {
  readonly status: number;
  /** They replace those of the whole file; undefined removes one. */
  readonly headers: Readonly<Record<string, string | number | undefined>>;
  /** Of the body. */
  readonly start: number;
  readonly length: number;
}

/** The head of the answer to a selection, and which bytes follow it. */
export function fileHead(selection: Selection, { size, etag }: FileBody): FileHead {
  const always = { etag, "accept-ranges": "bytes" };
  const none = { start: 0, length: 0 };
  if (selection.kind === "notModified") {
    const headers = { ...always, "content-length": undefined, "content-type": undefined };
    return { status: 304, headers: { ...headers, "content-disposition": undefined }, ...none };
  }
  if (selection.kind === "unsatisfiable") {
    const headers = { ...always, "content-range": `bytes */${size}`, "content-length": 0 };
    return { status: 416, headers: { ...headers, "content-disposition": undefined }, ...none };
  }
  if (selection.kind === "whole")
    return { status: 200, headers: { ...always, "content-length": size }, start: 0, length: size };
  const { start, length } = selection;
  const range = `bytes ${start}-${start + length - 1}/${size}`;
  const headers = { ...always, "content-range": range, "content-length": length };
  return { status: 206, headers, start, length };
}

/** The faults of a response whose client has left. */
export const leavingCodes = new Set([
  "ERR_STREAM_PREMATURE_CLOSE",
  "ERR_STREAM_DESTROYED",
  "ERR_STREAM_WRITE_AFTER_END",
  "ERR_STREAM_UNABLE_TO_PIPE",
  "ECONNRESET",
  "EPIPE",
]);

/** Passes the chunks on; throws when they do not have this length together, as when the file was cut. */
async function* exactly(
  source: AsyncIterable<Uint8Array>,
  { length, count }: { readonly length: number; readonly count: (bytes: number) => void },
): AsyncGenerator<Uint8Array> {
  let passed = 0;
  for await (const chunk of source) {
    passed += chunk.length;
    count(chunk.length);
    yield chunk;
  }
  if (passed !== length) throw new Error(`the file ended after ${passed} of ${length} bytes`);
}

export interface FileToSend {
  readonly path: string;
  /** At least one. */
  readonly length: number;
  readonly start: number;
  /** Sends the head; called when the first bytes are there. */
  readonly begin: () => void;
  /** Answers with the failure instead, when the head has not been sent. */
  readonly refuse: (failure: unknown) => Streamed;
  /** Ends the response after the last byte, when not at once. */
  readonly end?: () => void;
}

const firstBytes = 65_536;

async function readFirst(handle: FileHandle, { start, length }: FileToSend): Promise<Uint8Array> {
  const buffer = Buffer.allocUnsafe(Math.min(firstBytes, length));
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
  return buffer.subarray(0, bytesRead);
}

async function* bytesOf(
  handle: FileHandle,
  first: Uint8Array,
  { start, length }: FileToSend,
): AsyncGenerator<Uint8Array> {
  yield first;
  if (first.length === 0 || first.length === length) return;
  yield* handle.createReadStream({
    start: start + first.length,
    end: start + length - 1,
    autoClose: false,
  });
}

async function stream(response: ServerResponse, file: FileToSend, source: AsyncIterable<Uint8Array>) {
  let bytes = 0;
  const count = (more: number) => {
    bytes += more;
  };
  try {
    file.begin();
    const counted = exactly(source, { length: file.length, count });
    await pipeline(counted, response, { end: file.end === undefined });
    file.end?.();
    return { status: response.statusCode, bytes };
  } catch (failure) {
    response.destroy();
    const isGone = leavingCodes.has(systemCodeOf(failure) ?? "");
    return { status: response.statusCode, bytes, ...(isGone ? {} : { failure }) };
  }
}

async function openAndSend(response: ServerResponse, file: FileToSend): Promise<Streamed> {
  const handle = await open(file.path, "r");
  try {
    const first = await readFirst(handle, file);
    if (response.destroyed) return { status: 0, bytes: 0 };
    return await stream(response, file, bytesOf(handle, first, file));
  } finally {
    await handle.close();
  }
}

/** Streams the bytes into the response, or answers with the failure. Never rejects. */
export async function sendFile(response: ServerResponse, file: FileToSend): Promise<Streamed> {
  try {
    return await openAndSend(response, file);
  } catch (failure) {
    if (!response.headersSent && !response.destroyed) return file.refuse(failure);
    response.destroy();
    return { status: 0, bytes: 0, failure };
  }
}
