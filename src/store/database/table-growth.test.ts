import { sql } from "kysely";
import { beforeEach, expect, test } from "vitest";
import { openFreshStore } from "../../../test/support/fresh-store.ts";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { insertCompany } from "../accounts/companies.ts";
import { meanDocumentBytes, meanFiledBytes } from "../ledger/file-sizes.ts";
import type { Store } from "./database.ts";
import { measureTables, usedDatabaseBytes } from "./table-growth.ts";
import { hourMs } from "../../lib/durations.ts";

const begin = Date.UTC(2026, 10, 5);

let store: Store;

beforeEach(async () => {
  store = await openFreshStore(temporaryFolder());
  await store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: begin }));
});

/** So many files, one an hour. */
async function addFiles(count: number, { state = "applied", size = 100 } = {}): Promise<void> {
  await store.write("site", async (tx) => {
    await sql`with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ${count})
      insert into files (company_id, name, size, channel, received_at, state, reasons, records_created,
        records_updated, records_deleted, source, location, is_filed)
      select 1, 'file ' || i, ${size}, 'sftp', ${begin} + i * ${hourMs}, ${state}, '[]', 1, 0, 0, 'x', 'x' || i, 1
      from n`.execute(tx);
  });
}

async function filesSince(since: number) {
  return (await measureTables(store.read, since)).find(({ table }) => table === "files");
}

test("rows since a time are counted by their ids, also where some were removed", async () => {
  await addFiles(1_000);
  const firstAt = begin;
  for (const [since, recent] of [
    [begin - 1, 1_000],
    [begin, 1_000],
    [begin + 1, 999],
    [begin + 400 * hourMs, 600],
    [begin + 999 * hourMs, 1],
    [begin + 999 * hourMs + 1, 0],
  ] as const)
    expect(await filesSince(since)).toMatchObject({ recent, all: 1_000, firstAt });
  await store.write("site", (tx) => tx.deleteFrom("files").where("id", "<=", 300).execute());
  await store.write("site", (tx) => tx.deleteFrom("files").where("id", "in", [500, 501, 502]).execute());
  expect(await filesSince(begin)).toMatchObject({ recent: 700, all: 700, firstAt: begin + 300 * hourMs });
  // Those in a gap count, on either side of it.
  expect(await filesSince(begin + 500 * hourMs)).toMatchObject({ recent: 501 });
  expect(await filesSince(begin + 503 * hourMs)).toMatchObject({ recent: 497 });
});

test("every table that grows can be measured, also without a row", async () => {
  const found = await measureTables(store.read, begin);
  expect(found.length).toBeGreaterThan(12);
  expect(found.every(({ recent, firstAt }) => recent === 0 && firstAt === undefined)).toBe(true);
  await addFiles(2_000);
  const before = await usedDatabaseBytes(store.read);
  await store.write("site", (tx) => tx.deleteFrom("files").execute());
  // Free pages do not count.
  expect(await usedDatabaseBytes(store.read)).toBeLessThan(before - 100_000);
});

test("files count in whole blocks by where they lie, those that users have removed nothing", async () => {
  await addFiles(2, { size: 4_097 });
  await addFiles(1, { state: "refused", size: 1 });
  await addFiles(1, { state: "duplicate", size: 0 });
  // The receipt beside a refused file as well.
  expect(await meanFiledBytes(store.read)).toEqual({ archive: (2 * 8_192) / 4, error: (2 * 4_096) / 4 });
  await store.write("site", (tx) => tx.updateTable("files").set({ removed_at: 1 }).execute());
  expect((await meanFiledBytes(store.read)).archive).toBe(0);
});

test("a content of several documents counts once", async () => {
  await store.write("site", async (tx) => {
    for (const [guid, sha256, size] of [
      ["a", "1", 5_000],
      ["b", "1", 5_000],
      ["c", "2", 100],
      ["d", "2", 100],
    ] as const)
      await tx
        .insertInto("documents")
        .values({ company_id: 1, guid, sha256, size, name: null, created_at: begin })
        .execute();
  });
  expect(await meanDocumentBytes(store.read)).toBe((8_192 + 4_096) / 4);
});
