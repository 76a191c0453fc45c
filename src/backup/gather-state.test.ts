/** Files that move while a backup gathers them: each lies where the copy of the database has it, or is found. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { chmod, appendFile, rename, rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect } from "vitest";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { ledgerOfEachTest } from "../inbound/testing/ledger-fixture.ts";
import { recordRemoval } from "../store/ledger/files.ts";
import { saveDocuments } from "../store/stops/documents.ts";
import { copyStore, openStoredCopy } from "../store/database/stored-copy.ts";
import { CopyOutdated, findLostContents, gatherState } from "./gather-state.ts";
import { lookAround, type Surroundings } from "./look-around.ts";
import { proveLedger } from "./prove-copy.ts";
import { FileTaker, type PreviousBackup } from "./take-files.ts";
// A backup by dropgate copies the file of SQLite; a server has tools of its own.
import { itOnSqlite as test } from "../../test/support/store-dialect.ts";

const inbound = "companies/ACME/inbound";
const archive = "companies/ACME/archive/2026-11-05";
const name = "a1_20261105_080000.xml";
const fixture = ledgerOfEachTest();

/** Gathers into a folder; `meanwhile` happens after the database was copied. Proves the copy. */
async function gather(
  meanwhile: () => Promise<unknown> = async () => undefined,
  previous?: PreviousBackup,
  looked?: Surroundings,
) {
  const folder = temporaryFolder();
  const before = looked ?? (await lookAround(fixture.store.read, fixture.locations, ["ACME"]));
  await copyStore(fixture.stateDir, join(folder, "dropgate.db"), () => undefined);
  await meanwhile();
  const copy = openStoredCopy(join(folder, "dropgate.db"));
  const taker = new FileTaker(folder, previous);
  try {
    const live = fixture.store.read;
    await gatherState({
      locations: fixture.locations,
      live,
      copy: copy.read,
      taker,
      before,
      onProgress: () => undefined,
    });
    const { discrepancies } = await proveLedger({ stateDir: folder, copy: copy.read, files: taker.files });
    const text = (path: string) => {
      const at = join(folder, path);
      return existsSync(at) ? readFileSync(at, "utf8") : undefined;
    };
    return { folder, taker, text, discrepancies: discrepancies.map(({ location }) => location) };
  } finally {
    copy.close();
  }
}

/** Decides about a waiting file and moves it to `archive/`. */
async function fileAway(id: number, text = name): Promise<void> {
  await rm(join(fixture.stateDir, inbound, name));
  await fixture.decide(id, { state: "applied", location: `${archive}/${name}`, text });
}

describe("a file that waits in the copy", () => {
  test("and was filed away since is found by the live ledger, and waits in the backup", async () => {
    const id = await fixture.wait(name);
    const { text, discrepancies } = await gather(() => fileAway(id));
    expect(text(`${inbound}/${name}`)).toBe(name);
    expect(discrepancies).toEqual([]);
  });

  test("and was followed by another one of its name is not mistaken for it", async () => {
    const id = await fixture.wait(name, { text: "first" });
    const { text, discrepancies } = await gather(async () => {
      await fileAway(id, "first");
      await fixture.wait(name, { text: "second" });
    });
    expect(text(`${inbound}/${name}`)).toBe("first");
    expect(discrepancies).toEqual([]);
  });
});

test("bytes whose removal had begun are taken while they are there, and asked of nobody when they are not", async () => {
  const begun = { removed_at: 1, pruned_days: 1, is_pruning: 1 };
  await fileAway(await fixture.wait(name));
  await fixture.store.write("site", (tx) => tx.updateTable("files").set(begun).execute());
  const { text, discrepancies } = await gather();
  expect(text(`${archive}/${name}`)).toBe(name);
  expect(discrepancies).toEqual([]);
  await rm(join(fixture.stateDir, archive, name));
  expect((await gather()).discrepancies).toEqual([]);
});

test("a file that was answered and has no entry yet is in inbound/ of the backup", async () => {
  await fixture.put(`${inbound}/${name}`, "answered");
  const { text, discrepancies } = await gather();
  expect(text(`${inbound}/${name}`)).toBe("answered");
  expect(discrepancies).toEqual([]);
});

test("one that gets its entry and is filed away after the copy was made is there too", async () => {
  await fixture.put(`${inbound}/${name}`, "answered");
  const { text, discrepancies } = await gather(async () => {
    await rm(join(fixture.stateDir, inbound, name));
    const id = await fixture.wait(name, { text: "answered" });
    await fileAway(id, "answered");
    // A later one of the name must not take its place.
    await fixture.put(`${inbound}/${name}`, "later");
  });
  expect(text(`${inbound}/${name}`)).toBe("answered");
  expect(discrepancies).toEqual([]);
});

const later = "a1_20261105_090000.xml";

test("files of a stop that arrive after the copy was made are not there, be they filed away or still waiting", async () => {
  const { taker, discrepancies } = await gather(async () => {
    await fileAway(await fixture.wait(name));
    await fixture.put(`${inbound}/${later}`, "change");
  });
  expect([...taker.files.keys()]).toEqual([]);
  expect(discrepancies).toEqual([]);
});

test("a file that comes again after the copy was made is not taken for the one that the copy has filed", async () => {
  await fixture.put(`${inbound}/${name}`, "first");
  const live = fixture.store.read;
  const before = await lookAround(live, fixture.locations, ["ACME"]);
  await rm(join(fixture.stateDir, inbound, name));
  await fileAway(await fixture.wait(name, { text: "first" }), "first");
  const { taker, text } = await gather(() => fixture.put(`${inbound}/${name}`, "again"), undefined, before);
  expect([...taker.files.keys()]).toEqual([`${archive}/${name}`]);
  expect(text(`${archive}/${name}`)).toBe("first");
});

test("a file in inbound/ is copied: what its writer adds later is not in the backup", async () => {
  const known = await fixture.wait(later);
  await fixture.put(`${inbound}/${name}`, "whole");
  const { text } = await gather();
  for (const one of [name, later]) await appendFile(join(fixture.stateDir, inbound, one), "more");
  expect(known).toBeGreaterThan(0);
  expect([text(`${inbound}/${name}`), text(`${inbound}/${later}`)]).toEqual(["whole", later]);
});

test("arrivals have times in the order in which they came, whatever their names and their own times", async () => {
  const names = ["z1_20261105_080000.xml", "m1_20261105_080000.xml", "b1_20261105_080000.xml"];
  let last = 0;
  for (const [index, one] of names.entries()) {
    const path = await fixture.put(`${inbound}/${one}`, one);
    // Until the clock of the file system has gone on.
    do await utimes(path, 1_000 - index, 1_000 - index);
    while (statSync(path).ctimeMs <= last);
    last = statSync(path).ctimeMs;
  }
  const { folder } = await gather(async () => {
    for (const one of names)
      expect(statSync(join(fixture.stateDir, inbound, one)).ctimeMs).toBeLessThanOrEqual(last);
  });
  const times = names.map((one) => statSync(join(folder, inbound, one)).mtimeMs);
  expect(times[0]).toBeLessThan(times[1] ?? 0);
  expect(times[1]).toBeLessThan(times[2] ?? 0);
  expect(statSync(join(fixture.stateDir, inbound, names[2] ?? "")).ctimeMs).toBe(last);
});

test("a copy has the time at which its source came", async () => {
  const cameAt = Date.now() - 3_600_000;
  await fixture.put(`${inbound}/${name}`, "came later");
  const copy = await fixture.put(
    `${inbound}/.again/0123456789ab-${name}`,
    "came first, and was copied just now",
  );
  await chmod(copy, 0o440);
  await utimes(copy, cameAt / 1_000, cameAt / 1_000);
  const { folder } = await gather();
  // Times of files are set in whole microseconds, which the seconds of a double fall short of.
  const timeOf = (path: string) => Math.round(statSync(join(folder, inbound, path)).mtimeMs);
  expect(timeOf(`.again/0123456789ab-${name}`)).toBe(cameAt);
  expect(timeOf(name)).toBeGreaterThan(cameAt);
});

describe("a file that a scan has set aside", () => {
  const mark = "0123456789ab";
  const aside = `${inbound}/.aside/${mark}-${name}`;
  const again = `${inbound}/.again/${mark}-${name}`;

  test("is in .again of the backup, where the start takes it", async () => {
    await fixture.put(aside, "dropped");
    const { taker, text } = await gather();
    expect(text(again)).toBe("dropped");
    expect([...taker.files.keys()]).toEqual([again]);
  });

  test("is there once when its copy has its place", async () => {
    await fixture.put(aside, "dropped");
    await fixture.put(`${inbound}/${name}`, "dropped");
    const { taker } = await gather();
    expect([...taker.files.keys()]).toEqual([`${inbound}/${name}`]);
  });
});

test("a filed file that a user has removed since the copy was made calls for another copy", async () => {
  const id = await fixture.wait(name);
  await fileAway(id);
  const removal = { companyId: fixture.companyId, location: `${archive}/${name}`, at: 1, by: "ann" };
  await expect(
    gather(async () => {
      await fixture.store.write(fixture.companyId, (tx) => recordRemoval(tx, removal));
      await rm(join(fixture.stateDir, archive, name));
    }),
  ).rejects.toThrow(CopyOutdated);
});

describe("a content of a document that is not there", () => {
  const content = "a".repeat(64);

  beforeEach(async () => {
    const documents = [{ guid: "g", sha256: content, size: 1, name: "photo" }];
    await fixture.store.write(fixture.companyId, (tx) =>
      saveDocuments(tx, { companyId: fixture.companyId, documents, now: 1 }),
    );
  });

  test("calls for another copy when no document refers to it any more", async () => {
    const removeDocuments = () =>
      fixture.store.write(fixture.companyId, (tx) => tx.deleteFrom("documents").execute());
    await expect(gather(removeDocuments)).rejects.toThrow(CopyOutdated);
  });

  test("is a discrepancy of the state otherwise", async () => {
    const { taker } = await gather();
    const copy = fixture.store.read;
    expect(await findLostContents(copy, taker)).toEqual([
      { sha256: content, path: `documents/aa/aa/${content}` },
    ]);
  });
});

test("a file that is damaged in the state is taken as it is, and told", async () => {
  const id = await fixture.wait(name);
  await fileAway(id);
  await fixture.put(`${archive}/${name}`, "other bytes");
  const { text, discrepancies } = await gather();
  expect(discrepancies).toEqual([`${archive}/${name}`]);
  expect(text(`${archive}/${name}`)).toBe("other bytes");
});

test("receipts and files for hosts that came after the copy are left out, unless the copy knows them", async () => {
  const receipt = (of: string) => `companies/ACME/receipts/${of}`;
  const waiting = (of: string) => `companies/ACME/outbound/${of}`;
  await fixture.put(receipt("old.receipt.xml"), "old");
  await fixture.put(waiting("old.xml"), "old");
  const { text } = await gather(async () => {
    await fixture.put(
      receipt("new.receipt.xml"),
      '<StopResponse Ledger="00000000-0000-0000-0000-000000000000">',
    );
    await fixture.put(waiting("new.xml"), "new");
    // In the place of an older one.
    await rename(join(fixture.stateDir, waiting("new.xml")), join(fixture.stateDir, waiting("old.xml")));
  });
  expect(text(receipt("old.receipt.xml"))).toBe("old");
  expect(text(receipt("new.receipt.xml"))).toBeUndefined();
  expect(text(waiting("old.xml"))).toBeUndefined();
});

test("a backup shares what the one before has, by the hash of the ledger, and takes anew what has changed", async () => {
  const id = await fixture.wait(name);
  await fileAway(id);
  const first = await gather();
  const hashes = new Map([...first.taker.files].map(([path, { sha256 }]) => [path, sha256]));
  const isReread = () => false;
  const second = await gather(undefined, { state: first.folder, hashes, isReread });
  expect(second.taker.shared).toBe(1);
  const wrong = new Map(hashes).set(`${archive}/${name}`, "0".repeat(64));
  const third = await gather(undefined, { state: first.folder, hashes: wrong, isReread });
  expect(third.taker.shared).toBe(0);
  expect(third.discrepancies).toEqual([]);
});
