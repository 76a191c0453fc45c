/**
 * Moves old files to the folder of `retention.moveTo`, which may lie on another file system. What lies there is never
 * overwritten: a file whose name is taken gets one with its reference. Each step can be repeated.
 *
 *   at its place ──link, or copy under a dot-name, sync, link──> at both places ──folders synced, unlink──> moved
 */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { lstat, open, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { nameWithMark } from "../../domain/files/stop-file-name.ts";
import { systemCodeOf } from "../../lib/errors.ts";
import { isThere } from "../../lib/files/is-there.ts";
import * as changes from "../../lib/files/changes.ts";
import { makeDirectoryDurably } from "../../lib/files/durable-file.ts";
import { hashBytesAt } from "../places/hash-bytes.ts";

export interface FileToMove {
  readonly from: string;
  readonly to: string;
  /** Unique; stands in the name when another file has that. */
  readonly reference: string;
  /** Of the bytes that were received; null when they were never read. */
  readonly sha256: string | null;
}

/**
 * `changed`: what lies there is not what was received, and stays where it is; `missing`: it lies neither there nor at one of
 * its new places.
 */
export type MoveOutcome =
  | { readonly kind: "placed"; readonly at: string }
  | { readonly kind: "changed" | "missing" };

const bufferBytes = 1024 * 1024;
const sourceFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

async function copyBytes(source: FileHandle, target: FileHandle): Promise<string> {
  const digest = createHash("sha256");
  const buffer = Buffer.allocUnsafe(bufferBytes);
  for (;;) {
    const { bytesRead } = await source.read(buffer, 0, buffer.length, null);
    if (bytesRead === 0) return digest.digest("hex");
    digest.update(buffer.subarray(0, bytesRead));
    await changes.append(target, buffer.subarray(0, bytesRead));
  }
}

/** Copies and syncs; gives the SHA-256 of what was copied. */
async function copyDurably(from: string, to: string): Promise<string> {
  const source = await open(from, sourceFlags);
  try {
    const target = await changes.open(to, "wx", 0o640);
    try {
      const sha256 = await copyBytes(source, target);
      await changes.syncFile(target);
      return sha256;
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function hashAt(path: string): Promise<string | undefined> {
  const found = await hashBytesAt(path, Buffer.allocUnsafe(bufferBytes));
  return found.kind === "file" ? found.sha256 : undefined;
}

/** Whether the place has the bytes of the source, as after an attempt that something came between. */
async function hasSameBytes(from: string, place: string): Promise<boolean> {
  const [one, other] = [await lstat(from), await lstat(place)];
  if (one.dev === other.dev && one.ino === other.ino) return true;
  if (one.size !== other.size) return false;
  const sha256 = await hashAt(from);
  return sha256 !== undefined && sha256 === (await hashAt(place));
}

async function linkUnlessThere(from: string, place: string): Promise<boolean> {
  try {
    await changes.link(from, place);
    return true;
  } catch (error) {
    if (systemCodeOf(error) !== "EEXIST") throw error;
    return false;
  }
}

type Destination = Omit<FileToMove, "from">;

function places({ to, reference }: Destination): readonly [string, string] {
  return [to, join(dirname(to), nameWithMark(basename(to), reference))];
}

/** Where it lies then; undefined when both its names are taken by others. */
async function linkSomewhere(file: FileToMove, from: string): Promise<string | undefined> {
  for (const place of places(file)) {
    if (await linkUnlessThere(from, place)) return place;
    if (await hasSameBytes(from, place)) return place;
  }
  return undefined;
}

/** Other file systems, and those without hard links. */
const linkRefusals = ["EXDEV", "EPERM", "EMLINK", "ENOTSUP", "EOPNOTSUPP"];

function isLinkRefused(error: unknown): boolean {
  return linkRefusals.includes(systemCodeOf(error) ?? "");
}

async function nameUnlessThere(temporary: string, place: string): Promise<boolean> {
  try {
    return await linkUnlessThere(temporary, place);
  } catch (error) {
    if (!isLinkRefused(error)) throw error;
    // Without hard links no call names a file without a chance to overwrite; only this process puts files there.
    if (await isThere(place)) return false;
    await changes.rename(temporary, place);
    return true;
  }
}

async function copySomewhere(file: FileToMove): Promise<string | "changed" | undefined> {
  const temporary = join(dirname(file.to), `.${file.reference}.tmp`);
  // Of an attempt that something came between.
  await changes.rm(temporary, { force: true });
  try {
    const sha256 = await copyDurably(file.from, temporary);
    if (!isUnread(file.sha256) && file.sha256 !== sha256) return "changed";
    for (const place of places(file)) {
      if (await nameUnlessThere(temporary, place)) return place;
      if ((await hashAt(place)) === sha256) return place;
    }
    return undefined;
  } finally {
    // Also of a copy that a full disk has cut off, which would keep it full.
    await changes.rm(temporary, { force: true });
  }
}

async function placeSomewhere(file: FileToMove): Promise<string | "changed" | undefined> {
  try {
    return await linkSomewhere(file, file.from);
  } catch (error) {
    if (!isLinkRefused(error)) throw error;
    return await copySomewhere(file);
  }
}

function isUnread(sha256: string | null): boolean {
  return sha256 === null || sha256 === "";
}

/** Where it was moved to before, if it was. */
export async function findMoved(file: Destination): Promise<string | undefined> {
  const { sha256 } = file;
  // The second is taken only when the first was another's.
  for (const place of [...places(file)].reverse())
    if (isUnread(sha256) ? await isThere(place) : (await hashAt(place)) === sha256) return place;
  return undefined;
}

/**
 * Has a second place made for the file, whose folder the caller syncs before the file is removed. A file that is gone from
 * its place and lies at its new one was moved before.
 */
export async function placeAway(file: FileToMove): Promise<MoveOutcome> {
  const [first, second] = places(file);
  if (!(await isThere(file.from))) {
    const moved = await findMoved(file);
    return moved === undefined ? { kind: "missing" } : { kind: "placed", at: moved };
  }
  await makeDirectoryDurably(dirname(file.to));
  const at = await placeSomewhere(file);
  if (at === "changed") return { kind: "changed" };
  if (at === undefined)
    throw new Error(`${first} and ${second} are other files: move them away, so that nothing is overwritten`);
  return { kind: "placed", at };
}
