import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { receiptNameOf } from "../../domain/files/stop-file-name.ts";
import { findUnaccounted } from "./find-unaccounted.ts";
import { ledgerOfEachTest } from "../testing/ledger-fixture.ts";

const error = "companies/ACME/error/2026-11-05";
const archive = "companies/ACME/archive/2026-11-05";

const fixture = ledgerOfEachTest();

async function refuse(name: string, isFiled = true): Promise<void> {
  const id = await fixture.wait(name);
  await rm(join(fixture.stateDir, "companies/ACME/inbound", name));
  await fixture.decide(id, { state: "refused", location: `${error}/${name}`, text: name, isFiled });
}

async function found(): Promise<string[]> {
  const paths: string[] = [];
  for await (const batch of findUnaccounted(fixture, "ACME")) paths.push(...batch);
  return paths.map((path) => fixture.locations.toLedger(path)).sort();
}

const long = `${"ä".repeat(125)}.xml`;

test.each(["a.xml", "a.XML", "notes.txt", long])(
  "the receipt beside the refused %s is accounted for",
  async (name) => {
    await refuse(name);
    await fixture.put(`${error}/${receiptNameOf(name)}`, "receipt");
    expect(await found()).toEqual([]);
  },
);

test("a file with the name of a receipt is found when there is no file that it could be the receipt of", async () => {
  await refuse("a.xml");
  const cut = receiptNameOf(long);
  for (const place of [`${error}/b.receipt.xml`, `${error}/${cut}`, `${archive}/a.receipt.xml`]) {
    await fixture.put(place, "stray");
  }
  expect(await found()).toEqual(
    [`${archive}/a.receipt.xml`, `${error}/b.receipt.xml`, `${error}/${cut}`].sort(),
  );
});

test("temporary names of a file that is being filed away are accounted for", async () => {
  await refuse("a.xml", false);
  const names = [".1.tmp", ".1.receipt.tmp", ".1.0a1b2c3d.tmp", ".1.0a1b2c3d.gone.new", ".2.tmp"];
  for (const name of names) await fixture.put(`${error}/${name}`, "half");
  expect(await found()).toEqual([`${error}/.2.tmp`]);
});
