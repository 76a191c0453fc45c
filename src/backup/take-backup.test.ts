/** A whole backup of a state without a daemon: what it shares, and what it says when it cannot be made. */
import { rm, truncate, writeFile } from "node:fs/promises";
import { hash } from "node:crypto";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { ledgerOfEachTest } from "../inbound/testing/ledger-fixture.ts";
import { systemClock } from "../lib/clock.ts";
import { formatList, listName, manifestName, readList, stateName, type Manifest } from "./backup-folder.ts";
import { takeBackup } from "./take-backup.ts";
import { verifyBackup } from "./verify-backup.ts";

const name = "a1_20261105_080000.xml";
const location = `companies/ACME/archive/2026-11-05/${name}`;
const fixture = ledgerOfEachTest();
const instance = "1a2b3c4d-0000-4000-8000-000000000000";

async function fileOne(): Promise<void> {
  const id = await fixture.wait(name);
  await fixture.decide(id, { state: "applied", location, text: name });
  await rm(join(fixture.stateDir, "companies/ACME/inbound", name));
}

function backUp(destination: string, onWarning: (text: string) => void) {
  const order = { stateDir: fixture.stateDir, instance, destination, isIncremental: true, version: "0" };
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
