/** A whole backup of a state without a daemon: what it shares, and what it says when it cannot be made. */
import { rm, stat, truncate, utimes, writeFile } from "node:fs/promises";
import { hash } from "node:crypto";
import { join } from "node:path";
import { expect } from "vitest";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { ledgerOfEachTest } from "../inbound/testing/ledger-fixture.ts";
import { systemClock } from "../lib/clock.ts";
import { formatList, listName, manifestName, readList, stateName, type Manifest } from "./backup-folder.ts";
import { takeBackup } from "./take-backup.ts";
import { verifyBackup } from "./verify-backup.ts";
// A backup by dropgate copies the file of SQLite; a server has tools of its own.
import { itOnSqlite as test } from "../../test/support/store-dialect.ts";

const nameOfOne = "a1_20261105_080000.xml";
const archive = "companies/ACME/archive/2026-11-05";
const location = `${archive}/${nameOfOne}`;
const fixture = ledgerOfEachTest();
const instance = "1a2b3c4d-0000-4000-8000-000000000000";

async function fileOne(name = nameOfOne): Promise<void> {
  const id = await fixture.wait(name);
  await fixture.decide(id, { state: "applied", location: `${archive}/${name}`, text: name });
  await rm(join(fixture.stateDir, "companies/ACME/inbound", name));
}

function backUp(destination: string, onWarning: (text: string) => void, rereadWithin = 0) {
  const order = {
    ...{ stateDir: fixture.stateDir, instance, destination, isIncremental: true, rereadWithin, version: "0" },
  };
  const deps = { store: fixture.store, clock: systemClock, onWarning };
  return takeBackup({ ...order, configuration: new Map() }, deps);
}

test("a backup passes over newer ones that cannot be read, and is a full one when none can", async () => {
  await fileOne();
  const destination = temporaryFolder();
  const warnings: string[] = [];
  const take = () => backUp(destination, (text) => warnings.push(text));
  const [first, second, third] = [await take(), await take(), await take()];
  expect(warnings).toEqual([]);
  await truncate(join(third.folder, manifestName), 10);
  await rm(join(second.folder, listName));
  const fourth = await take();
  expect([fourth.manifest.base, fourth.manifest.shared > 0]).toEqual([first.manifest.name, true]);
  expect(warnings).toEqual([expect.stringContaining(`it shares those of ${first.manifest.name}`)]);
  for (const { folder } of [first, fourth]) await truncate(join(folder, manifestName), 10);
  const { manifest } = await take();
  expect([manifest.base, manifest.shared]).toEqual([null, 0]);
  expect(warnings.slice(1)).toEqual([expect.stringContaining("it is a full one")]);
});

test("each shared file is read again within so many backups, and never when that is 0", async () => {
  const [stops, within] = [12, 4];
  for (let nth = 1; nth <= stops; nth += 1) await fileOne(`a${nth}_20261105_080000.xml`);
  const destination = temporaryFolder();
  const take = async (rereadWithin: number) =>
    (await backUp(destination, expect.unreachable, rereadWithin)).manifest;
  expect((await take(within)).rereadPart).toBeNull();
  const taken = [];
  for (let nth = 0; nth < 2 * within; nth += 1) taken.push(await take(within));
  expect(taken.map(({ rereadPart }) => rereadPart)).toEqual([0, 1, 2, 3, 0, 1, 2, 3]);
  const read = taken.map(({ reread }) => reread);
  for (const round of [read.slice(0, within), read.slice(within)])
    expect(round.reduce((sum, count) => sum + count, 0)).toBe(taken[0]?.shared);
  expect(Math.max(...read)).toBeLessThan(taken[0]?.shared ?? 0);
  expect(await take(0)).toMatchObject({ reread: 0, rereadPart: null });
});

test("a shared file whose bytes the disk has lost is taken anew, with a warning that names it", async () => {
  await fileOne();
  const destination = temporaryFolder();
  const first = await backUp(destination, expect.unreachable);
  const damaged = join(first.folder, stateName, location);
  const { atime, mtime } = await stat(damaged);
  // As on another disk, where it is no link to the file of the state.
  await rm(damaged);
  await writeFile(damaged, nameOfOne.replace("a", "b"));
  await utimes(damaged, atime, mtime);
  const unread = await backUp(destination, expect.unreachable);
  const faultsOf = async (folder: string) =>
    (await verifyBackup(folder)).faults.filter((fault) => fault.includes(location));
  expect(await faultsOf(unread.folder)).not.toEqual([]);
  const warnings: string[] = [];
  const second = await backUp(destination, (text) => warnings.push(text), 1);
  expect(warnings).toEqual([
    expect.stringMatching(`1 file is damaged in the backup .*${location}.*taken anew from the state`),
  ]);
  expect(second.manifest.discrepancies).toEqual([]);
  expect(await faultsOf(second.folder)).toEqual([]);
});

test("a shared file that is one with the damaged file of the state is not said to be taken anew", async () => {
  await fileOne();
  const destination = temporaryFolder();
  const first = await backUp(destination, expect.unreachable);
  const shared = join(first.folder, stateName, location);
  const { atime, mtime } = await stat(shared);
  // Another name of the file of the state, on the same disk.
  await writeFile(shared, nameOfOne.replace("a", "b"));
  await utimes(shared, atime, mtime);
  const warnings: string[] = [];
  await backUp(destination, (text) => warnings.push(text), 1);
  expect(warnings).toEqual([
    expect.stringMatching(`1 file is damaged .*${location}.*the state has the same damage: restore it`),
  ]);
});

test("a backup whose list has no database is not whole", async () => {
  await fileOne();
  const { folder, manifest } = await backUp(temporaryFolder(), expect.unreachable);
  const database = `${stateName}/dropgate.db`;
  const list = new Map(await readList(folder, manifest));
  list.delete(database);
  await rm(join(folder, database));
  const text = formatList(list);
  const changed: Manifest = { ...manifest, files: list.size, list: hash("sha256", text, "hex") };
  await writeFile(join(folder, listName), text);
  await writeFile(join(folder, manifestName), JSON.stringify(changed));
  expect((await verifyBackup(folder)).faults).toEqual(["the backup has no database"]);
});
