/**
 * A file of fixed size that records are appended to and that is emptied as a whole.
 *
 *   block 0   magic, epoch (random), CRC-32          each block 4 KiB
 *   block n   a record: epoch, lengths, CRC-32, note (JSON), bytes, zeros up to the end of its last block
 *
 * The blocks are on the disk before the first record, so that a record costs one sync that writes nothing but its own
 * blocks, and no record shares a block with another one. A new epoch empties the file: records of an older one are not
 * read any more. A record that was torn by a power failure ends the reading; nobody was answered for it or for what
 * follows it, because a sync speaks for everything before it.
 */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { crc32 } from "node:zlib";
import { type DiskCalls, writeWhole } from "../lib/durable-file.ts";
import { shareRuns } from "../lib/shared-run.ts";
import { syncShort } from "../lib/short-sync.ts";

const blockBytes = 4096;
/** 3,000 files of 4 KB. */
export const journalFileBytes = 24 * 1024 * 1024;
const fillBytes = 1024 * 1024;
const magic = Buffer.from("DGUPLD01", "latin1");
const epochBytes = 8;
/** Epoch, length of the note, length of the bytes, CRC-32 of all that and of note and bytes. */
const headBytes = epochBytes + 12;
const checkAt = headBytes - 4;

/** What was appended. */
export interface JournalRecord {
  readonly note: string;
  readonly bytes: Uint8Array;
}

function sealOf(epoch: Uint8Array): Buffer {
  const seal = Buffer.alloc(blockBytes);
  magic.copy(seal);
  seal.set(epoch, magic.length);
  seal.writeUInt32LE(crc32(seal.subarray(0, magic.length + epochBytes)), magic.length + epochBytes);
  return seal;
}

/** The epoch of a file; undefined when it was never finished, or is none of ours. */
function epochOf(seal: Buffer): Buffer | undefined {
  const epoch = seal.subarray(magic.length, magic.length + epochBytes);
  return sealOf(epoch).equals(seal) ? epoch : undefined;
}

function blocksFor(noteBytes: number, contentBytes: number): number {
  return Math.ceil((headBytes + noteBytes + contentBytes) / blockBytes) * blockBytes;
}

function checkOf(record: Buffer, end: number): number {
  return crc32(record.subarray(headBytes, end), crc32(record.subarray(0, checkAt)));
}

function recordOf(epoch: Uint8Array, note: Buffer, bytes: Uint8Array): Buffer {
  const end = headBytes + note.byteLength + bytes.byteLength;
  const record = Buffer.allocUnsafe(blocksFor(note.byteLength, bytes.byteLength));
  record.set(epoch);
  record.writeUInt32LE(note.byteLength, epochBytes);
  record.writeUInt32LE(bytes.byteLength, epochBytes + 4);
  record.set(note, headBytes);
  record.set(bytes, headBytes + note.byteLength);
  // What the memory held before is nobody's business.
  record.fill(0, end);
  record.writeUInt32LE(checkOf(record, end), checkAt);
  return record;
}

async function readWhole(disk: DiskCalls, fd: number, length: number, at: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  for (let done = 0; done < length; ) {
    const count = await disk.read(fd, bytes.subarray(done), at + done);
    if (count === 0) return bytes.subarray(0, done);
    done += count;
  }
  return bytes;
}

async function nextRecord(
  disk: DiskCalls,
  fd: number,
  place: { readonly epoch: Buffer; readonly at: number },
): Promise<(JournalRecord & { readonly length: number }) | undefined> {
  const { epoch, at } = place;
  const head = await readWhole(disk, fd, headBytes, at);
  if (head.byteLength < headBytes || !head.subarray(0, epochBytes).equals(epoch)) return undefined;
  const noteBytes = head.readUInt32LE(epochBytes);
  const end = headBytes + noteBytes + head.readUInt32LE(epochBytes + 4);
  if (end > journalFileBytes - at) return undefined;
  const record = await readWhole(disk, fd, end, at);
  if (record.byteLength < end || checkOf(record, end) !== head.readUInt32LE(checkAt)) return undefined;
  return {
    note: record.toString("utf8", headBytes, headBytes + noteBytes),
    bytes: record.subarray(headBytes + noteBytes),
    length: blocksFor(0, end - headBytes),
  };
}

/** Whole records of the current epoch of an open journal file, in order; none when it was never finished. */
export async function* readJournal(disk: DiskCalls, fd: number): AsyncGenerator<JournalRecord> {
  const epoch = epochOf(await readWhole(disk, fd, blockBytes, 0));
  if (epoch === undefined) return;
  for (let at = blockBytes; ; ) {
    const record = await nextRecord(disk, fd, { epoch, at });
    if (record === undefined) return;
    yield record;
    at += record.length;
  }
}

/** Begins a new epoch, durably: the file has no records any more. Gives the epoch. */
export async function emptyJournal(disk: DiskCalls, fd: number): Promise<Buffer> {
  const epoch = randomBytes(epochBytes);
  await writeWhole(disk, fd, sealOf(epoch), 0);
  await disk.fdatasync(fd);
  return epoch;
}

export class JournalFile {
  readonly #disk: DiskCalls;
  readonly #fd: number;
  readonly #sync: () => Promise<void>;
  #epoch: Buffer;
  #end = blockBytes;
  #fault: unknown;

  private constructor(disk: DiskCalls, fd: number, epoch: Buffer) {
    this.#disk = disk;
    this.#fd = fd;
    this.#epoch = epoch;
    // Only the blocks: the times of the file are nobody's concern.
    const calls = { fsync: disk.fdatasync, fsyncNow: disk.fdatasyncNow };
    this.#sync = shareRuns(() => syncShort(calls, fd));
  }

  /** Opens the file, makes it when it is not there in its size, and empties it. Its entry in the folder is not synced. */
  static async open(path: string, disk: DiskCalls): Promise<JournalFile> {
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;
    const fd = await disk.open(path, flags, 0o640);
    try {
      if ((await disk.fstat(fd)).size !== journalFileBytes) await fill(disk, fd);
      return new JournalFile(disk, fd, await emptyJournal(disk, fd));
    } catch (error) {
      await disk.close(fd);
      throw error;
    }
  }

  /** Resolves when the record is durable. False when there is no room for it, or the disk has failed before. */
  async append({ note, bytes }: JournalRecord): Promise<boolean> {
    const noteBytes = Buffer.from(note);
    const at = this.#end;
    const length = blocksFor(noteBytes.byteLength, bytes.byteLength);
    if (this.#fault !== undefined || at + length > journalFileBytes) return false;
    this.#end += length;
    try {
      await writeWhole(this.#disk, this.#fd, recordOf(this.#epoch, noteBytes, bytes), at);
      await this.#sync();
    } catch (error) {
      // What follows could not be read over it.
      this.#fault = error;
      throw error;
    }
    if (this.#fault !== undefined) throw this.#fault;
    return true;
  }

  /** Everything that was appended since it was emptied. */
  records(): AsyncGenerator<JournalRecord> {
    return readJournal(this.#disk, this.#fd);
  }

  /** Whether nothing was appended since it was emptied. */
  get isEmpty(): boolean {
    return this.#end === blockBytes;
  }

  /** Forgets all records, durably. */
  async empty(): Promise<void> {
    this.#epoch = await emptyJournal(this.#disk, this.#fd);
    this.#end = blockBytes;
    this.#fault = undefined;
  }

  async close(): Promise<void> {
    await this.#disk.close(this.#fd);
  }
}

async function fill(disk: DiskCalls, fd: number): Promise<void> {
  await disk.ftruncate(fd, 0);
  const zeros = Buffer.alloc(fillBytes);
  for (let at = 0; at < journalFileBytes; at += fillBytes) await writeWhole(disk, fd, zeros, at);
  await disk.fsync(fd);
}
