import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { linkSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ExchangeFixture, openFixture, put } from "../../test/support/exchange-fixture.ts";
import { waitFor } from "../../test/support/wait-for.ts";
import { type DiskCalls, systemDisk } from "../lib/durable-file.ts";
import type { Arrival } from "../inbound/inbox.ts";
import { createLogger } from "../lib/log.ts";
import { recoverUploads } from "./recover-uploads.ts";

/** So many at once make a burst; they are synced one by one, and all but the last are handed over at once. */
const openers = 9;

class Faults {
  files = false;
  journal = false;
  fileSyncs = 0;
  journalSyncs = 0;
  readonly disk: DiskCalls = {
    ...systemDisk,
    fsync: async (fd) => {
      if ((await systemDisk.fstat(fd)).isFile()) {
        this.fileSyncs += 1;
        failWhen(this.files);
      }
      await systemDisk.fsync(fd);
    },
    fsyncNow: (fd) => {
      this.fileSyncs += 1;
      failWhen(this.files);
      systemDisk.fsyncNow(fd);
    },
    fdatasync: async (fd) => {
      this.journalSyncs += 1;
      failWhen(this.journal);
      await systemDisk.fdatasync(fd);
    },
    fdatasyncNow: (fd) => {
      this.journalSyncs += 1;
      failWhen(this.journal);
      systemDisk.fdatasyncNow(fd);
    },
  };
}

function failWhen(isBroken: boolean): void {
  if (isBroken) throw Object.assign(new Error("EIO: i/o error, fsync"), { code: "EIO" });
}

let fixture: ExchangeFixture;
let faults: Faults;
let journalDir: string;
/** During a burst its clock stands still: on a busy machine it would fall apart into several. */
let heldAtMs: number | undefined;

beforeEach(async () => {
  faults = new Faults();
  const burstNowMs = () => heldAtMs ?? performance.now();
  fixture = await openFixture({ disk: faults.disk, hasJournal: true, burstNowMs });
  journalDir = `${fixture.companiesDir}-journal`;
  await warmUp();
});
afterEach(async () => {
  heldAtMs = undefined;
  await fixture.close();
});

const inbound = (name: string): string => join(fixture.home, "inbound", name);
const partial = (name: string): string => inbound(join(".partial", "7", name));
const contentOf = (index: number): string => `<Stop>${index}${" ".repeat(3_000)}</Stop>`;
const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `s${index}.xml`);

/** The journal is made when the first burst comes: until one upload has gone through it. */
async function warmUp(): Promise<void> {
  const session = fixture.session();
  let count = 0;
  await waitFor("the journal", async () => {
    for (let each = 0; each < openers; each += 1) {
      await put(session, `/inbound/warm${count}.xml`, contentOf(count));
      count += 1;
    }
    return faults.journalSyncs > 2;
  });
  await waitFor("the end of the burst", () => fixture.arrivals.length === count);
  for (let index = 0; index < count; index += 1) rmSync(inbound(`warm${index}.xml`));
  fixture.arrivals.length = 0;
  // The next ones are to begin another burst.
  await pause(150);
}

/** Uploads `openers` files that are synced by themselves, then as many through the journal; gives where its clock stood. */
async function burst(count: number, meanwhile: () => void = () => undefined): Promise<number> {
  const session = fixture.session();
  const at = performance.now();
  heldAtMs = at;
  for (let index = 0; index < openers; index += 1)
    await put(session, `/inbound/o${index}.xml`, contentOf(index));
  meanwhile();
  for (const [index, name] of names(count).entries())
    await put(session, `/inbound/${name}`, contentOf(index));
  heldAtMs = undefined;
  return at;
}

/** What a death of the process leaves: files under their final names, nothing handed over. */
async function burstAndDie(count: number): Promise<void> {
  await burst(count, () => {
    faults.files = true;
  });
  await fixture.exchange.stop();
  faults.files = false;
  expect(fixture.arrivals).toHaveLength(openers - 1);
}

async function recover(inLedger: readonly string[] = []): Promise<readonly Arrival[]> {
  const log = createLogger({ level: "info", destination: { write: (line) => fixture.logLines.push(line) } });
  const placesInLedger = async () => new Set(inLedger);
  const { companiesDir } = fixture;
  return await recoverUploads({ journalDir, companiesDir, disk: systemDisk, log, placesInLedger });
}

function expectAllWhole(count: number): void {
  for (const [index, name] of names(count).entries())
    expect(readFileSync(inbound(name), "utf8")).toBe(contentOf(index));
  expect(readdirSync(inbound(".partial/7"))).toEqual([]);
}

describe("a burst of short uploads", () => {
  test("goes through the journal: one sync each, and the files before they are handed over", async () => {
    faults.journalSyncs = 0;
    await burst(20, () => {
      faults.fileSyncs = 0;
    });
    expect(faults.fileSyncs).toBe(0);
    expect(faults.journalSyncs).toBe(20);
    await waitFor("the end of the burst", () => fixture.arrivals.length === openers + 20);
    expect(faults.fileSyncs).toBeGreaterThanOrEqual(20);
    expect(fixture.arrivals.slice(openers).map(({ path }) => path)).toEqual(names(20).map(inbound));
    expectAllWhole(20);
    await fixture.exchange.stop();
    expect(await recover()).toEqual([]);
  });

  test("of several writes, or under an unfinished name, is synced as ever", async () => {
    await burst(1);
    const session = fixture.session();
    faults.journalSyncs = 0;
    const handle = await session.openWrite("/inbound/two.xml", {
      create: true,
      truncate: true,
      exclusive: false,
      append: false,
    });
    await handle.write(0, Buffer.from("<Stop>"));
    await handle.write(6, Buffer.from("</Stop>"));
    await handle.close();
    await put(session, "/inbound/three.xml.part", "<Stop/>");
    expect(faults.journalSyncs).toBe(0);
    expect(readFileSync(inbound("two.xml"), "utf8")).toBe("<Stop></Stop>");
  });

  test("is synced file by file while the disk of the journal fails, and the log says so", async () => {
    await burst(5, () => {
      faults.journal = true;
    });
    faults.journal = false;
    await waitFor("all", () => fixture.arrivals.length === openers + 5);
    expectAllWhole(5);
    expect(fixture.logLines.join("")).toContain("the journal of uploads cannot be written");
    await fixture.exchange.stop();
    // Whatever of them the journal holds: it was emptied before they were handed over.
    expect(await recover()).toEqual([]);
  });

  test("that cannot be synced is written once more from the journal, because a lost write is told only once", async () => {
    await burst(3, () => {
      faults.files = true;
    });
    await waitFor("the fault in the log", () => fixture.logLines.join("").includes("could not be synced"));
    expect(fixture.arrivals).toHaveLength(openers - 1);
    // What the system took for clean and the disk has lost.
    writeFileSync(inbound("s1.xml"), Buffer.alloc(contentOf(1).length));
    faults.files = false;
    await waitFor("all", () => fixture.arrivals.length === openers + 3);
    expectAllWhole(3);
  });

  test("whose last file cannot be placed leaves nothing in the journal that would bring it back", async () => {
    const session = fixture.session();
    await burst(3);
    // The folder of files whose name is taken: nothing can be made in it.
    rmSync(inbound(".again"), { recursive: true });
    writeFileSync(inbound(".again"), "in the way");
    await expect(put(session, "/inbound/s1.xml", "<Stop>other</Stop>")).rejects.toThrow();
    rmSync(inbound(".again"));
    await waitFor("all", () => fixture.arrivals.length === openers + 3);
    await fixture.exchange.stop();
    rmSync(inbound("s1.xml"));
    expect(await recover()).toEqual([]);
  });

  test("is settled although a folder was tidied away meanwhile", async () => {
    writeFileSync(inbound("s1.xml"), "of somebody else");
    await burst(2);
    rmSync(inbound(".again"), { recursive: true });
    await waitFor("all", () => fixture.arrivals.length === openers + 2);
  });

  test("holds back what comes after files that cannot be settled before the stop", async () => {
    const session = fixture.session();
    await burst(2, () => {
      faults.files = true;
    });
    await waitFor("the fault in the log", () => fixture.logLines.join("").includes("could not be synced"));
    faults.files = false;
    await pause(150);
    await put(session, "/inbound/later.xml", "<Stop/>");
    faults.files = true;
    await fixture.exchange.stop();
    expect(fixture.arrivals.map(({ name }) => name)).not.toContain("later.xml");
  });
});

describe("after the death of the process", () => {
  test("every upload is handed over with its user, and the journal is empty", async () => {
    await burstAndDie(5);
    const arrivals = await recover();
    expect(arrivals).toEqual(
      names(5).map((name, index) => ({
        companyId: 1,
        name,
        path: inbound(name),
        channel: "sftp",
        userName: "host7",
        size: contentOf(index).length,
        receivedAt: expect.any(Number),
      })),
    );
    expectAllWhole(5);
    expect(await recover()).toEqual([]);
  });

  test("two uploads of one name and content are two files, and are handed over once each", async () => {
    // They belong to the burst, however slow the machine is.
    heldAtMs = await burst(2, () => {
      faults.files = true;
    });
    const session = fixture.session();
    await put(session, "/inbound/s1.xml", contentOf(1));
    await put(session, "/inbound/s1.xml", contentOf(1));
    await fixture.exchange.stop();
    faults.files = false;
    const again = readdirSync(inbound(".again")).map((name) => inbound(`.again/${name}`));
    const arrivals = await recover();
    expect(arrivals.map(({ path }) => path).toSorted()).toEqual(
      [inbound("s0.xml"), inbound("s1.xml"), ...again].toSorted(),
    );
    expect(again).toHaveLength(2);
  });

  test("an upload that had no name yet does not take the place of an equal one that the ledger has", async () => {
    await burstAndDie(2);
    renameSync(inbound("s1.xml"), inbound("new"));
    writeFileSync(inbound("s1.xml"), contentOf(1));
    rmSync(inbound("new"));
    const arrivals = await recover([inbound("s1.xml")]);
    expect(arrivals[1]?.path).toMatch(/\/\.again\/[0-9a-f]{12}-s1\.xml$/);
  });

  test("a file between journal and final name gets it, and its unfinished name goes", async () => {
    await burstAndDie(2);
    renameSync(inbound("s1.xml"), partial("s1.xml"));
    linkSync(inbound("s0.xml"), partial("s0.xml"));
    expect((await recover()).map(({ name }) => name)).toEqual(["s0.xml", "s1.xml"]);
    expectAllWhole(2);
  });
});

describe("after a power failure", () => {
  const losses: Readonly<Record<string, (path: string) => void>> = {
    missing: (path) => rmSync(path),
    empty: (path) => truncateSync(path),
    torn: (path) => truncateSync(path, 1_000),
    "full of zeros": (path) => writeFileSync(path, Buffer.alloc(statSync(path).size)),
    garbage: (path) => writeFileSync(path, "x".repeat(statSync(path).size)),
  };

  test.each(Object.entries(losses))("a file that is %s is written again", async (_, lose) => {
    await burstAndDie(3);
    lose(inbound("s1.xml"));
    expect((await recover()).map(({ path }) => path)).toEqual(names(3).map(inbound));
    expectAllWhole(3);
  });

  test("the folders of the unfinished files are made again when they are gone too", async () => {
    await burstAndDie(2);
    rmSync(inbound("s0.xml"));
    rmSync(inbound(".partial"), { recursive: true });
    await recover();
    expectAllWhole(2);
  });

  test("a file whose name was taken stands in .again, or is written there again", async () => {
    writeFileSync(inbound("s1.xml"), "of somebody else");
    await burstAndDie(2);
    const [again = ""] = readdirSync(inbound(".again"));
    const standing = await recover();
    expect(standing[1]?.path).toBe(inbound(`.again/${again}`));
    expect(readdirSync(inbound(".again"))).toEqual([again]);
    expect(readFileSync(inbound("s1.xml"), "utf8")).toBe("of somebody else");
  });

  test("a file of somebody else under the name stays, and ours goes beside it", async () => {
    await burstAndDie(2);
    writeFileSync(inbound("new"), "of somebody else");
    renameSync(inbound("new"), inbound("s1.xml"));
    const arrivals = await recover();
    expect(arrivals[1]?.name).toBe("s1.xml");
    expect(readFileSync(arrivals[1]?.path ?? "", "utf8")).toBe(contentOf(1));
    expect(readFileSync(inbound("s1.xml"), "utf8")).toBe("of somebody else");
  });

  test("a later upload of the same name keeps its unfinished file", async () => {
    await burstAndDie(1);
    writeFileSync(partial("s0.xml"), "of a later upload");
    rmSync(inbound("s0.xml"));
    await recover();
    expect(readFileSync(inbound("s0.xml"), "utf8")).toBe(contentOf(0));
    expect(readFileSync(partial("s0.xml"), "utf8")).toBe("of a later upload");
  });

  test("what cannot be taken up is kept for the next start, and the log says why", async () => {
    await burstAndDie(3);
    rmSync(inbound("s1.xml"));
    rmSync(inbound(".partial"), { recursive: true });
    mkdirSync(inbound("kept"));
    writeFileSync(inbound(".partial"), "in the way");
    expect((await recover()).map(({ name }) => name)).toEqual(["s0.xml", "s2.xml"]);
    expect(fixture.logLines.join("")).toContain("mend what the error says and restart");
    // The others are not taken up a second time.
    expect(await recover()).toEqual([]);
    rmSync(inbound(".partial"));
    expect((await recover()).map(({ name }) => name)).toEqual(["s1.xml"]);
    expectAllWhole(3);
    expect(readdirSync(join(journalDir, "kept"))).toEqual([]);
  });

  test("without a journal there is nothing to take up", async () => {
    await fixture.exchange.stop();
    rmSync(journalDir, { recursive: true });
    expect(await recover()).toEqual([]);
    expect(existsSync(journalDir)).toBe(false);
  });
});
