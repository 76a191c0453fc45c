import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { fileGroupAway } from "./file-away.ts";
import { createLocations, type Locations } from "./locations.ts";
import { locationFor, toFilingTask } from "./places.ts";

const now = Date.UTC(2026, 10, 5);

function placeOf(locations: Locations, name: string, id: number): string {
  const refused = { state: "refused", isNameTaken: false, now } as const;
  return locationFor(locations, { companyCode: "ACME", name, reference: String(id), ...refused });
}

/** Files a refused file away; gives the folder of refused files. */
function refuse(locations: Locations, id: number, name: string): string {
  const from = join(locations.inboundDirectory("ACME"), name);
  mkdirSync(dirname(from), { recursive: true });
  writeFileSync(from, `bytes of ${name}`);
  const location = placeOf(locations, name, id);
  const decided = { id, reference: String(id), location, sha256: null, receipt: `receipt of ${name}` };
  const task = toFilingTask(locations, { companyId: 1, companyCode: "ACME", name, from, decided });
  expect(fileGroupAway([task])).toEqual([{ id, kind: "filed" }]);
  return dirname(task.to);
}

test("the receipt of a refused file does not replace the bytes of one that has the name of a receipt", () => {
  const locations = createLocations(temporaryFolder());
  refuse(locations, 51, "zz.receipt.xml");
  const folder = refuse(locations, 52, "zz.xml");
  expect(readdirSync(folder).sort()).toEqual([
    "zz.receipt.51.receipt.xml",
    "zz.receipt.51.xml",
    "zz.receipt.xml",
    "zz.xml",
  ]);
  expect(readFileSync(join(folder, "zz.receipt.51.xml"), "utf8")).toBe("bytes of zz.receipt.xml");
  expect(readFileSync(join(folder, "zz.receipt.xml"), "utf8")).toBe("receipt of zz.xml");
});

test.each([
  ["zz.Receipt.XML", "zz.Receipt.51.XML"],
  ["zz.receipt", "zz.receipt"],
  ["zz.xml", "zz.xml"],
])("%s is filed as %s", (name, filedAs) => {
  const locations = createLocations(temporaryFolder());
  expect(placeOf(locations, name, 51)).toBe(`companies/ACME/error/2026-11-05/${filedAs}`);
});

test.each(["a".repeat(251), "ä".repeat(125)])("a name of 255 bytes has its receipts", (base) => {
  const locations = createLocations(temporaryFolder());
  const folder = refuse(locations, 7, `${base}.xml`);
  expect(readdirSync(folder)).toHaveLength(2);
  expect(readdirSync(locations.receiptsDirectory("ACME"))).toHaveLength(1);
});
