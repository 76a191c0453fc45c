import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { JournalFile } from "../exchange/journal-file.ts";
import { type JournalNote, journalFileNames } from "../exchange/upload-journal.ts";
import { systemDisk } from "../lib/durable-file.ts";
import { countUploadsToRecover } from "./uploads-to-recover.ts";

let stateDir: string;

beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "dropgate-recover-"));
});

afterEach(() => rm(stateDir, { recursive: true, force: true }));

async function put(location: string): Promise<void> {
  const path = join(stateDir, location);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, "x");
}

function noteOf(name: string): string {
  const arrival: JournalNote["arrival"] = { companyId: 1, name, channel: "sftp", size: 1 };
  const path = `ACME/inbound/${name}`;
  return JSON.stringify({ arrival, path, part: `${path}.part`, inode: 1, turn: 1 } satisfies JournalNote);
}

test("a state without a journal has no uploads to recover", async () => {
  expect(await countUploadsToRecover(stateDir)).toBe(0);
});

test("uploads that stand in the journal alone are counted, with those that were kept", async () => {
  await mkdir(join(stateDir, "journal"));
  for (const [index, name] of journalFileNames.entries()) {
    const file = await JournalFile.open(join(stateDir, "journal", name), systemDisk);
    await file.append({ note: noteOf(`lost${index}.xml`), bytes: Buffer.from("x") });
    await file.append({ note: noteOf(`placed${index}.xml`), bytes: Buffer.from("x") });
    await file.close();
    await put(`companies/ACME/inbound/placed${index}.xml`);
  }
  await put("journal/kept/1-a.json");
  await put("journal/kept/.half.tmp");
  expect(await countUploadsToRecover(stateDir)).toBe(3);
});
