import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  journaledContent,
  journaledInodes,
  journaledName,
  journaledStops,
  plantFormerJournal,
} from "../../../test/support/former-journal.ts";
import type { Arrival } from "../../inbound/places/inbox.ts";
import { type DiskCalls, systemDisk } from "../../lib/files/durable-file.ts";
import { createLogger } from "../../lib/logs/log.ts";
import { ensureCompanyTree } from "../folders/company-folders.ts";
import { readFormerJournal } from "./former-journal.ts";
import { countUploadsOfFormerJournal, takeUpFormerJournal } from "./take-up-former-journal.ts";

let stateDir: string;
let logLines: string[];

beforeEach(async () => {
  stateDir = await realpath(await mkdtemp(join(tmpdir(), "former-journal-")));
  mkdirSync(join(stateDir, "companies"));
  await ensureCompanyTree(join(stateDir, "companies"), "ACME");
  logLines = [];
  plantFormerJournal(stateDir);
});
afterEach(() => rm(stateDir, { recursive: true, force: true }));

const inbound = (name: string): string => join(stateDir, "companies", "ACME", "inbound", name);
const fileOf = (stop: string): string => inbound(journaledName(stop));
const place = (stop: string): void => writeFileSync(fileOf(stop), journaledContent(stop));
const foldersOf = (): { journalDir: string; companiesDir: string } => ({
  journalDir: join(stateDir, "journal"),
  companiesDir: join(stateDir, "companies"),
});

/** The real disk, on which the files of these stops, wherever they lie, have the inodes that the journal has noted. */
function diskKnowing(paths: Readonly<Record<string, string>>): DiskCalls {
  return {
    ...systemDisk,
    async lstat(path) {
      const stats = await systemDisk.lstat(path);
      const known = Object.entries(paths).find(
        ([, own]) => existsSync(own) && statSync(own).ino === stats.ino,
      );
      if (known !== undefined) stats.ino = journaledInodes[known[0]] ?? 0;
      return stats;
    },
  };
}

async function takeUp(
  changes: { disk?: DiskCalls; inLedger?: readonly string[] } = {},
): Promise<readonly Arrival[]> {
  return await takeUpFormerJournal({
    ...foldersOf(),
    disk: changes.disk ?? systemDisk,
    log: createLogger({ level: "info", destination: { write: (line) => logLines.push(line) } }),
    placesInLedger: async () => new Set(changes.inLedger),
  });
}

function expectAllWhole(): void {
  for (const stop of journaledStops) expect(readFileSync(fileOf(stop), "utf8")).toBe(journaledContent(stop));
  expect(readdirSync(inbound(".partial/1"))).toEqual([]);
}

test("a state without a journal has nothing to take up", async () => {
  rmSync(join(stateDir, "journal"), { recursive: true });
  expect(await countUploadsOfFormerJournal(foldersOf())).toBe(0);
  expect(await takeUp()).toEqual([]);
  expect(logLines).toEqual([]);
});

test("a journal without uploads is removed", async () => {
  rmSync(join(stateDir, "journal"), { recursive: true });
  mkdirSync(join(stateDir, "journal", "kept"), { recursive: true });
  writeFileSync(join(stateDir, "journal", "uploads-1.journal"), Buffer.alloc(100_000));
  expect(await takeUp()).toEqual([]);
  expect(existsSync(join(stateDir, "journal"))).toBe(false);
});

test("uploads that a power failure took are written again and handed over with their user, and the journal goes", async () => {
  expect(await countUploadsOfFormerJournal(foldersOf())).toBe(5);
  expect(await takeUp()).toEqual(
    journaledStops.map((stop) => ({
      companyId: 1,
      name: journaledName(stop),
      path: fileOf(stop),
      channel: "sftp",
      userName: "host",
      size: journaledContent(stop).length,
      receivedAt: expect.any(Number),
    })),
  );
  expectAllWhole();
  expect(existsSync(join(stateDir, "journal"))).toBe(false);
  expect(await takeUp()).toEqual([]);
});

test("uploads that stand in their places are handed over as they are, and their unfinished names go", async () => {
  for (const stop of journaledStops) place(stop);
  mkdirSync(inbound(".partial/1"), { recursive: true });
  linkSync(fileOf("2002"), inbound(`.partial/1/${journaledName("2002")}`));
  const inodes = journaledStops.map((stop) => statSync(fileOf(stop)).ino);
  expect(await countUploadsOfFormerJournal(foldersOf())).toBe(0);
  const arrivals = await takeUp({ disk: diskKnowing({ "2002": fileOf("2002") }) });
  expect(arrivals.map(({ path }) => path)).toEqual(journaledStops.map(fileOf));
  expect(journaledStops.map((stop) => statSync(fileOf(stop)).ino)).toEqual(inodes);
  expectAllWhole();
});

describe("a name that is taken by a file of somebody else", () => {
  beforeEach(() => writeFileSync(fileOf("2003"), "of somebody else"));

  test("stays so, and ours goes to .again", async () => {
    expect(await countUploadsOfFormerJournal(foldersOf())).toBe(5);
    const arrival = (await takeUp()).find(({ name }) => name === journaledName("2003"));
    expect(arrival?.path).toMatch(/\/\.again\/[0-9a-f]{12}-2003_20261105_080000\.xml$/);
    expect(readFileSync(arrival?.path ?? "", "utf8")).toBe(journaledContent("2003"));
    expect(readFileSync(fileOf("2003"), "utf8")).toBe("of somebody else");
  });

  test("is no reason to write ours again when it stands in .again", async () => {
    mkdirSync(inbound(".again"), { recursive: true });
    const again = inbound(`.again/0123456789ab-${journaledName("2003")}`);
    writeFileSync(again, journaledContent("2003"));
    expect(await countUploadsOfFormerJournal(foldersOf())).toBe(4);
    const arrival = (await takeUp()).find(({ name }) => name === journaledName("2003"));
    expect(arrival?.path).toBe(again);
    expect(readdirSync(inbound(".again"))).toHaveLength(1);
  });
});

test("an equal file that the ledger has is another one", async () => {
  place("2001");
  const arrivals = await takeUp({ inLedger: [fileOf("2001")] });
  expect(arrivals.find(({ name }) => name === journaledName("2001"))?.path).toContain("/.again/");
});

test.each<[string, (path: string) => void]>([
  ["empty", (path) => truncateSync(path)],
  ["torn", (path) => truncateSync(path, 300)],
  ["full of zeros", (path) => writeFileSync(path, Buffer.alloc(statSync(path).size))],
])("a file of the same inode that is %s is written again in its place", async (_, lose) => {
  place("2001");
  lose(fileOf("2001"));
  const arrivals = await takeUp({ disk: diskKnowing({ "2001": fileOf("2001") }) });
  expect(arrivals.map(({ path }) => path)).toEqual(journaledStops.map(fileOf));
  expectAllWhole();
});

test("an upload that cannot get its place is kept for the next start, and the log says why", async () => {
  for (const stop of ["2001", "2002", "2004", "2005"]) place(stop);
  rmSync(inbound(".partial"), { recursive: true, force: true });
  writeFileSync(inbound(".partial"), "in the way");
  expect((await takeUp()).map(({ name }) => name)).not.toContain(journaledName("2003"));
  expect(logLines.join("")).toContain("remove the cause in the error and restart");
  expect(await countUploadsOfFormerJournal(foldersOf())).toBe(1);
  rmSync(inbound(".partial"));
  // The others have been processed meanwhile, and are not taken up a second time.
  for (const stop of ["2001", "2002", "2004", "2005"]) rmSync(fileOf(stop));
  expect((await takeUp()).map(({ path }) => path)).toEqual([fileOf("2003")]);
  expect(existsSync(join(stateDir, "journal"))).toBe(false);
});

test("an upload that stands in the journal and among the kept ones is taken up once", async () => {
  for (const stop of journaledStops) place(stop);
  rmSync(fileOf("2003"));
  rmSync(inbound(".partial"), { recursive: true, force: true });
  writeFileSync(inbound(".partial"), "in the way");
  await takeUp();
  // The start died before it removed the journal.
  plantFormerJournal(stateDir);
  rmSync(inbound(".partial"));
  expect(await takeUp()).toHaveLength(5);
  expectAllWhole();
  expect(readdirSync(inbound(".again"))).toEqual([]);
});

test("what follows a torn record was never answered", async () => {
  const path = join(stateDir, "journal", "uploads-1.journal");
  const file = readFileSync(path);
  file[4096 * 2 + 500] = 0;
  writeFileSync(path, file);
  expect((await takeUp()).map(({ name }) => name)).toEqual(["2005", "2001", "2004"].map(journaledName));
});

test("a journal that ends anywhere gives the uploads whose records are whole", async () => {
  const path = join(stateDir, "journal", "uploads-1.journal");
  const whole = readFileSync(path).subarray(0, 4096 * 8);
  const stopsFoundIn = async (bytes: number): Promise<readonly string[]> => {
    writeFileSync(path, whole.subarray(0, bytes));
    const uploads = (await readFormerJournal(join(stateDir, "journal")))?.uploads ?? [];
    for (const { note, bytes: content } of uploads)
      expect(journaledContent(note.arrival.name.slice(0, 4))).toBe(Buffer.from(content).toString());
    return uploads.map(({ note }) => note.arrival.name);
  };
  const all = await stopsFoundIn(whole.byteLength);
  expect(await stopsFoundIn(0)).not.toEqual(all);
  const fromRecord = Array.from({ length: 40 }, (_, turn) => 4096 + turn * 700);
  for (const cut of [7, 8, 12, 16, 19, 20, 100, 4095, 4096, 4097, 4115, 4116, ...fromRecord]) {
    const found = await stopsFoundIn(cut);
    // What is there of it is there in its order, and nothing else.
    expect(found).toEqual(all.filter((name) => found.includes(name)));
  }
});
