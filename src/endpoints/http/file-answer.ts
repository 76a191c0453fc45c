/**
 * Sends a file, or the part of it that was asked for, as fast as the client takes it.
 *
 *   selected -> opened -> head sent -> streamed -> ended
 *
 * The file is opened before the head is sent, and an open file does not vanish. What fails after the head destroys the
 * connection: its length was announced, so the client sees that the answer is not whole.
 */
import { type FileHandle, open } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { systemCodeOf } from "../../lib/errors.ts";
import type { FileBody } from "./answer.ts";
import type { Selection } from "./byte-range.ts";

/** What became of a streamed answer. */
export interface Streamed {
  /** 0 when nobody was left to answer. */
  readonly status: number;
  readonly bytes: number;
  /** A failure of ours; a client that goes away is none. */
  readonly failure?: unknown;
}

export interface FileHead {
  readonly status: number;
  /** They replace those of the whole; undefined takes one away. */
  readonly headers: Readonly<Record<string, string | number | undefined>>;
  /** Of the body. */
  readonly start: number;
  readonly length: number;
}

/** The head of the answer to what was selected, and which bytes follow it. */
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
  if (selection.kind === "whole") {
    return { status: 200, headers: { ...always, "content-length": size }, start: 0, length: size };
  }
  const { start, length } = selection;
  const range = `bytes ${start}-${start + length - 1}/${size}`;
  const headers = { ...always, "content-range": range, "content-length": length };
  return { status: 206, headers, start, length };
}

/** How the other end's leaving looks from here. */
const leavingCodes = new Set([
  "ERR_STREAM_PREMATURE_CLOSE",
  "ERR_STREAM_DESTROYED",
  "ERR_STREAM_WRITE_AFTER_END",
  "ERR_STREAM_UNABLE_TO_PIPE",
  "ECONNRESET",
  "EPIPE",
]);

/** Passes the chunks on and throws when they are not of this length together, as when the file was cut. */
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
  /** Sends the head; called once the file is open. */
  readonly begin: () => void;
  /** Ends the response after the last byte, when not at once. */
  readonly end?: () => void;
}

async function stream(handle: FileHandle, response: ServerResponse, file: FileToSend): Promise<Streamed> {
  let bytes = 0;
  const count = (more: number) => {
    bytes += more;
  };
  const { start, length } = file;
  try {
    if (response.destroyed) return { status: 0, bytes };
    file.begin();
    await pipeline(
      handle.createReadStream({ start, end: start + length - 1 }),
      (source: AsyncIterable<Uint8Array>) => exactly(source, { length, count }),
      response,
      { end: file.end === undefined },
    );
    file.end?.();
    return { status: response.statusCode, bytes };
  } catch (failure) {
    response.destroy();
    const isGone = leavingCodes.has(systemCodeOf(failure) ?? "");
    return { status: response.statusCode, bytes, ...(isGone ? {} : { failure }) };
  } finally {
    // Closed by its stream already, unless that never began; closing twice does nothing.
    await handle.close();
  }
}

/** Streams the bytes into the response. Never rejects. */
export async function sendFile(response: ServerResponse, file: FileToSend): Promise<Streamed> {
  try {
    return await stream(await open(file.path, "r"), response, file);
  } catch (failure) {
    response.destroy();
    return { status: 0, bytes: 0, failure };
  }
}
