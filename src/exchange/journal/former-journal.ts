/**
 * Reads the journal of uploads that earlier versions kept in `<stateDir>/journal/`: answered uploads of a burst whose bytes
 * were not yet synced in `inbound/`. This version keeps none; a crash just before the upgrade may have left one.
 *
 *   uploads-1.journal, uploads-2.journal   24 MiB each, in blocks of 4 KiB
 *     block 0   magic, epoch, CRC-32
 *     block n   a record: epoch, length of the note, length of the bytes, CRC-32, note (JSON), bytes, zeros to the block's end
 *   kept/*.json                            uploads that an earlier start could not put in their places: note, bytes in base64
 *
 * Records of another epoch, and whatever follows a torn record, belong to no answered upload.
 */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { Arrival } from "../../inbound/places/inbox.ts";
import { unlessMissing } from "../../lib/errors.ts";

const blockBytes = 4096;
const magic = Buffer.from("DGUPLD01", "latin1");
const epochBytes = 8;
const headBytes = epochBytes + 12;
const checkAt = headBytes - 4;
const fileNames = ["uploads-1.journal", "uploads-2.journal"] as const;

/** What the journal notes beside the bytes. Paths are relative to the folder of the companies. */
export interface JournalNote {
  readonly arrival: Omit<Arrival, "path">;
  readonly path: string;
  readonly part: string;
  /** By which the file is known when its bytes are torn; 0 in kept uploads. */
  readonly inode: number;
  /** Counts the uploads of one run. */
  readonly turn: number;
}

export interface JournaledUpload {
  readonly note: JournalNote;
  readonly bytes: Uint8Array;
}

export interface FormerJournal {
  /** Each once, in the order of their closes. */
  readonly uploads: readonly JournaledUpload[];
  /** Absolute paths of the journal's files, kept uploads included. */
  readonly files: readonly string[];
}

/** The folder beside the journal for uploads that cannot be put in their places. */
export function keptFolderIn(journalDir: string): string {
  return join(journalDir, "kept");
}

/** The same for an upload in the journal and in `kept/`, where a crash may have left both. */
export function keyOf({ note, bytes }: JournaledUpload): string {
  const sha256 = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  return `${note.arrival.receivedAt ?? 0}-${note.turn}-${sha256}`;
}

/** The epoch of a file; undefined when it was never finished, or is no journal. */
function epochOf(file: Buffer): Buffer | undefined {
  const checked = magic.length + epochBytes;
  if (file.byteLength < blockBytes || !file.subarray(0, magic.length).equals(magic)) return undefined;
  if (file.readUInt32LE(checked) !== crc32(file.subarray(0, checked))) return undefined;
  return file.subarray(magic.length, checked);
}

function recordAt(
  file: Buffer,
  at: number,
  epoch: Buffer,
): { upload: JournaledUpload; end: number } | undefined {
  if (at + headBytes > file.byteLength || !file.subarray(at, at + epochBytes).equals(epoch)) return undefined;
  const noteEnd = at + headBytes + file.readUInt32LE(at + epochBytes);
  const end = noteEnd + file.readUInt32LE(at + epochBytes + 4);
  if (end > file.byteLength) return undefined;
  const check = crc32(file.subarray(at + headBytes, end), crc32(file.subarray(at, at + checkAt)));
  if (check !== file.readUInt32LE(at + checkAt)) return undefined;
  const note = JSON.parse(file.toString("utf8", at + headBytes, noteEnd)) as JournalNote;
  return { upload: { note, bytes: file.subarray(noteEnd, end) }, end };
}

function recordsOf(file: Buffer): JournaledUpload[] {
  const epoch = epochOf(file);
  const uploads: JournaledUpload[] = [];
  for (let at = blockBytes; epoch !== undefined; ) {
    const record = recordAt(file, at, epoch);
    if (record === undefined) break;
    uploads.push(record.upload);
    at = Math.ceil(record.end / blockBytes) * blockBytes;
  }
  return uploads;
}

async function readKept(path: string): Promise<JournaledUpload> {
  const kept = JSON.parse(await readFile(path, "utf8")) as { note: JournalNote; base64: string };
  return { note: kept.note, bytes: Buffer.from(kept.base64, "base64") };
}

/** Resolves with undefined where no earlier version has left a journal. */
export async function readFormerJournal(journalDir: string): Promise<FormerJournal | undefined> {
  if ((await readdir(journalDir).catch(unlessMissing)) === undefined) return undefined;
  const keptFolder = keptFolderIn(journalDir);
  const files: string[] = [];
  const uploads = new Map<string, JournaledUpload>();
  for (const name of ((await readdir(keptFolder).catch(unlessMissing)) ?? []).sort()) {
    const path = join(keptFolder, name);
    // Others are temporary files of an interrupted write.
    const upload = name.endsWith(".json") ? await readKept(path) : undefined;
    if (upload !== undefined) uploads.set(keyOf(upload), upload);
    files.push(path);
  }
  for (const path of fileNames.map((name) => join(journalDir, name))) {
    const file = await readFile(path).catch(unlessMissing);
    if (file === undefined) continue;
    // These know their inode.
    for (const upload of recordsOf(file)) uploads.set(keyOf(upload), upload);
    files.push(path);
  }
  const receivedAt = ({ note }: JournaledUpload) => note.arrival.receivedAt ?? 0;
  const inOrder = [...uploads.values()].toSorted((one, other) => receivedAt(one) - receivedAt(other));
  return { uploads: inOrder, files };
}
