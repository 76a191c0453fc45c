/**
 * Reads a file that somebody else put there. It is opened without following a link and without blocking on a FIFO, and
 * only a regular file is read. A file over the limit is not read at all: its size says enough.
 */
import { createHash, hash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { messageOf, systemCodeOf } from "../../lib/errors.ts";

export type UnreadableFile = {
  readonly kind: "unreadable";
  readonly systemCode: string;
  readonly message: string;
};

export type FileOnce =
  | { readonly kind: "bytes"; readonly bytes: Buffer; readonly sha256: string }
  | { readonly kind: "tooLarge"; readonly size: number }
  | UnreadableFile;

export type HashedFile =
  | { readonly kind: "hashed"; readonly size: number; readonly sha256: string }
  | UnreadableFile;

/** Called after each read: a slow disk is no fault of the document. */
export type OnProgress = () => void;

const reusableSize = 256 * 1024;
/** Read at once, so that progress is seen also on a slow share. */
const portion = 1024 * 1024;
/** Most files are small; they share one buffer a thread, so its bytes hold only until the next read. */
let reusable: Buffer | undefined;

function bufferFor(size: number): Buffer {
  if (size > reusableSize) return Buffer.allocUnsafe(size);
  reusable ??= Buffer.allocUnsafeSlow(reusableSize);
  return reusable;
}

/** Reads until the buffer is full or the file ends; returns the number of bytes. */
function fill(descriptor: number, buffer: Buffer, onProgress: OnProgress): number {
  let length = 0;
  while (length < buffer.length) {
    const count = readSync(descriptor, buffer, length, Math.min(buffer.length - length, portion), null);
    onProgress();
    if (count === 0) break;
    length += count;
  }
  return length;
}

interface ReadOptions {
  readonly maxBytes: number;
  readonly onProgress: OnProgress;
}

function readOpen(descriptor: number, size: number, options: ReadOptions): FileOnce {
  if (size > options.maxBytes) return { kind: "tooLarge", size };
  // One byte more than the file is said to have shows that it has grown meanwhile.
  const buffer = bufferFor(size + 1);
  const length = fill(descriptor, buffer, options.onProgress);
  const bytes = buffer.subarray(0, length);
  if (length === buffer.length) return readGrown(descriptor, bytes, options);
  return { kind: "bytes", bytes, sha256: hash("sha256", bytes, "hex") };
}

/** The file grew while it was read: reads on, up to the limit. */
function readGrown(descriptor: number, begin: Buffer, { maxBytes, onProgress }: ReadOptions): FileOnce {
  const buffer = Buffer.allocUnsafe(maxBytes + 1);
  begin.copy(buffer, 0, 0, Math.min(begin.length, buffer.length));
  const length = begin.length + fill(descriptor, buffer.subarray(begin.length), onProgress);
  if (length > maxBytes) return { kind: "tooLarge", size: Math.max(length, fstatSync(descriptor).size) };
  const bytes = buffer.subarray(0, length);
  return { kind: "bytes", bytes, sha256: hash("sha256", bytes, "hex") };
}

function hashOpen(descriptor: number, onProgress: OnProgress): HashedFile {
  const digest = createHash("sha256");
  const buffer = bufferFor(0);
  let size = 0;
  for (let count = 1; count > 0; size += count) {
    count = fill(descriptor, buffer, onProgress);
    digest.update(buffer.subarray(0, count));
  }
  return { kind: "hashed", size, sha256: digest.digest("hex") };
}

/** Opens a regular file for what is to be done with it, or says why that cannot be. */
function withFile<T>(path: string, work: (descriptor: number, size: number) => T): T | UnreadableFile {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = fstatSync(descriptor);
    if (!stat.isFile())
      return { kind: "unreadable", systemCode: "ENOTREG", message: "it is not a regular file" };
    return work(descriptor, stat.size);
  } catch (error) {
    // A NUL in the name has a code of its own kind (ERR_INVALID_ARG_VALUE); anything without a code is no file fault.
    const systemCode = systemCodeOf(error);
    if (systemCode === undefined) throw error;
    const reason =
      messageOf(error)
        .split(",")[0]
        ?.replace(/^[A-Z0-9_]+: /, "") ?? systemCode;
    return { kind: "unreadable", systemCode, message: reason };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** The file's bytes and SHA-256, or why there are none. The bytes hold until the next call. */
export function readFileOnce(
  path: string,
  maxBytes: number,
  onProgress: OnProgress = () => undefined,
): FileOnce {
  return withFile(path, (descriptor, size) => readOpen(descriptor, size, { maxBytes, onProgress }));
}

/** The SHA-256 of a file, in bounded memory. */
export function hashFileOnce(path: string, onProgress: OnProgress = () => undefined): HashedFile {
  return withFile(path, (descriptor) => hashOpen(descriptor, onProgress));
}
