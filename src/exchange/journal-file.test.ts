import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type DiskCalls, systemDisk } from "../lib/durable-file.ts";
import { JournalFile, type JournalRecord, journalFileBytes } from "./journal-file.ts";

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "journal-"));
  path = join(folder, "uploads.journal");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function record(index: number, length = 4_000): JournalRecord {
  return { note: `{"turn":${index}}`, bytes: Buffer.alloc(length, `content ${index} `) };
}

async function notesIn(journal: JournalFile): Promise<string[]> {
  const notes: string[] = [];
  for await (const { note } of journal.records()) notes.push(note);
  return notes;
}

async function overwrite(at: number, bytes: Uint8Array): Promise<void> {
  const handle = await open(path, "r+");
  await handle.write(bytes, 0, bytes.byteLength, at);
  await handle.close();
}

test("records come back in their order, byte for byte, whatever their length", async () => {
  const journal = await JournalFile.open(path, systemDisk);
  const records = [0, 1, 4_000, 4_096, 31_999].map((length, index) => record(index, length));
  for (const each of records) expect(await journal.append(each)).toBe(true);
  const found: JournalRecord[] = [];
  for await (const { note, bytes } of journal.records()) found.push({ note, bytes: Buffer.from(bytes) });
  expect(found).toEqual(records);
  await journal.close();
});

test("an emptied file has no records, and takes new ones over the old", async () => {
  const journal = await JournalFile.open(path, systemDisk);
  for (let index = 0; index < 5; index += 1) await journal.append(record(index));
  await journal.empty();
  expect(journal.isEmpty).toBe(true);
  expect(await notesIn(journal)).toEqual([]);
  await journal.append(record(9));
  expect(await notesIn(journal)).toEqual(['{"turn":9}']);
  await journal.close();
});

test("a record that was torn ends the reading, and those before it are whole", async () => {
  const journal = await JournalFile.open(path, systemDisk);
  for (let index = 0; index < 4; index += 1) await journal.append(record(index));
  // The seal and three records of one block each, but for a byte.
  await overwrite(4096 * 4 - 200, Buffer.from("torn"));
  expect(await notesIn(journal)).toHaveLength(2);
  await overwrite(4096, Buffer.alloc(1));
  expect(await notesIn(journal)).toEqual([]);
  await journal.close();
});

test("a length that leads out of the file is not followed", async () => {
  const journal = await JournalFile.open(path, systemDisk);
  await journal.append(record(0));
  await overwrite(4096 + 8, Buffer.from([255, 255, 255, 255]));
  expect(await notesIn(journal)).toEqual([]);
  await journal.close();
});

test("a file of another size or without a seal is made anew", async () => {
  const handle = await open(path, "w");
  await handle.writeFile("of an earlier version");
  await handle.close();
  const journal = await JournalFile.open(path, systemDisk);
  expect(await notesIn(journal)).toEqual([]);
  await journal.append(record(0));
  expect(await notesIn(journal)).toHaveLength(1);
  await overwrite(0, Buffer.from("spoilt"));
  expect(await notesIn(journal)).toEqual([]);
  await journal.close();
});

test("a full file takes nothing more, and everything that fitted is there", async () => {
  const journal = await JournalFile.open(path, systemDisk);
  let taken = 0;
  while (await journal.append(record(taken, 1_000_000))) taken += 1;
  expect(taken).toBe(Math.floor((journalFileBytes - 4096) / (245 * 4096)));
  expect(await notesIn(journal)).toHaveLength(taken);
  await journal.close();
});

test("records that come at once share syncs and none is lost", async () => {
  let syncs = 0;
  const disk: DiskCalls = {
    ...systemDisk,
    fdatasync: async (fd) => {
      syncs += 1;
      await systemDisk.fdatasync(fd);
    },
  };
  const journal = await JournalFile.open(path, disk);
  syncs = 0;
  await Promise.all(Array.from({ length: 20 }, (_, index) => journal.append(record(index))));
  expect(await notesIn(journal)).toHaveLength(20);
  expect(syncs).toBeLessThanOrEqual(3);
  await journal.close();
});

test("after a fault of the disk nothing is taken until the file has been emptied", async () => {
  let isBroken = false;
  const fdatasync: DiskCalls["fdatasync"] = async (fd) => {
    if (isBroken) throw Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
    await systemDisk.fdatasync(fd);
  };
  const journal = await JournalFile.open(path, { ...systemDisk, fdatasync });
  await journal.append(record(0));
  isBroken = true;
  await expect(journal.append(record(1))).rejects.toThrow("EIO");
  expect(await journal.append(record(2))).toBe(false);
  await expect(journal.empty()).rejects.toThrow("EIO");
  isBroken = false;
  expect(await journal.append(record(3))).toBe(false);
  await journal.empty();
  expect(await journal.append(record(4))).toBe(true);
  await journal.close();
});
