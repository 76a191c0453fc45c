import { sql } from "kysely";
import { beforeEach, expect, test } from "vitest";
import { openFreshStore } from "../../../test/support/fresh-store.ts";
import { plansOf } from "../../../test/support/query-plans.ts";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { isOnPostgres, itOnSqlite } from "../../../test/support/store-dialect.ts";
import { insertCompany } from "../accounts/companies.ts";
import { meanDocumentBytes, meanFiledBytes } from "../ledger/file-sizes.ts";
import type { Store } from "./database.ts";
import { hourMs } from "../../lib/durations.ts";
import { type KeptRows, measureTables, spreadIds } from "./table-growth.ts";
import { usedDatabaseBytes } from "./database-sizes.ts";

const begin = Date.UTC(2026, 10, 5);

let store: Store;
let stateDir: string;

beforeEach(async () => {
  stateDir = temporaryFolder();
  store = await openFreshStore(stateDir);
  await store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: begin }));
});

/** So many files, one an hour. */
async function addFiles(
  count: number,
  { state = "applied", size = 100, companyIds = [1] } = {},
): Promise<void> {
  const turns = companyIds.map((id, turn) => sql`when ${sql.lit(turn)} then ${sql.lit(id)}`);
  const inTurns = sql.join(turns, sql` `);
  await store.write("site", async (tx) => {
    await sql`with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ${count})
      insert into files (company_id, name, size, channel, received_at, state, reasons, records_created,
        records_updated, records_deleted, source, location, is_filed)
      select case i % ${sql.lit(companyIds.length)} ${inTurns} end, 'file ' || i, ${sql.lit(size)}, 'sftp',
        ${sql.lit(begin)} + cast(i as bigint) * ${sql.lit(hourMs)}, ${sql.lit(state)}, '[]', 1, 0, 0, 'x', 'x' || i, 1
      from n`.execute(tx);
    // Its plans are those of an empty table until it looks again, which it does by itself soon after.
    if (isOnPostgres) await sql`analyze files`.execute(tx);
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
    expect(await filesSince(since)).toMatchObject({ recent, firstAt });
  await store.write("site", (tx) => tx.deleteFrom("files").where("id", "<=", 300).execute());
  await store.write("site", (tx) => tx.deleteFrom("files").where("id", "in", [500, 501, 502]).execute());
  expect(await filesSince(begin)).toMatchObject({ recent: 700, firstAt: begin + 300 * hourMs });
  // Those in a gap count, on either side of it.
  expect(await filesSince(begin + 500 * hourMs)).toMatchObject({ recent: 501 });
  expect(await filesSince(begin + 503 * hourMs)).toMatchObject({ recent: 497 });
});

function rowsOf(kept: readonly KeptRows[] = [], isCounted: (one: KeptRows) => boolean = () => true): number {
  return kept.filter(isCounted).reduce((sum, { rows }) => sum + rows, 0);
}

test("what is kept is told by some rows: how many, of whom and since when; all of them where there are few", async () => {
  await store.write("site", async (tx) => {
    await insertCompany(tx, { code: "OTHER", createdAt: begin });
    await insertCompany(tx, { code: "THIRD", createdAt: begin });
  });
  await addFiles(300, { companyIds: [1, 2] });
  const few = await filesSince(begin + 250 * hourMs);
  expect(few?.kept).toHaveLength(300);
  expect(rowsOf(few?.kept, ({ companyCode }) => companyCode === "OTHER")).toBe(150);
  await store.write("site", (tx) => tx.deleteFrom("files").execute());
  // In turns; what was removed is not counted.
  await addFiles(60_000, { companyIds: [1, 2, 1, 3] });
  await store.write("site", (tx) =>
    sql`delete from files where company_id = 3 or (company_id = 2 and received_at < ${begin + 30_000 * hourMs})`.execute(
      tx,
    ),
  );
  const found = await filesSince(begin + 50_000 * hourMs);
  expect(found?.kept.length).toBeLessThanOrEqual(1_000);
  const of = (code: string, from = 0) =>
    rowsOf(found?.kept, ({ companyCode, at }) => companyCode === code && at >= begin + from * hourMs);
  const near = (count: number) => [count * 0.9, count * 1.1] as const;
  for (const [counted, [least, most]] of [
    [of("ACME"), near(30_000)],
    [of("ACME", 50_000), near(5_000)],
    [of("OTHER"), near(7_500)],
    [of("OTHER", 50_000), near(2_500)],
    [of("THIRD"), near(0)],
  ] as const) {
    expect(counted).toBeGreaterThanOrEqual(least);
    expect(counted).toBeLessThanOrEqual(most);
  }
});

itOnSqlite("no table is read, however many rows it has: each look is one at an id", async () => {
  await addFiles(10);
  const steps = await plansOf({ read: store.read, stateDir }, () => measureTables(store.read, begin));
  const looks = /^(SEARCH \w|CORRELATED SCALAR SUBQUERY)|^SCAN n VIRTUAL TABLE/;
  // The last rows, by their ids.
  expect([...new Set(steps.filter((step) => !looks.test(step)))]).toEqual(["SCAN t"]);
  expect(steps).toContain("SEARCH t USING INTEGER PRIMARY KEY (rowid=?)");
});

test.each([
  [{ from: 5, to: 4 }, []],
  [{ from: 5, to: 5 }, [5]],
  [{ from: 5, to: 9 }, [5, 6, 7, 8, 9]],
] as const)("ids of %j: %j", (range, ids) => {
  expect(spreadIds(range, 5)).toEqual(ids);
});

test("ids of a large range are spread, one in each of its parts, at unequal distances", () => {
  const ids = spreadIds({ from: 1_001, to: 10_001_000 }, 1_000);
  expect(ids.map((id) => Math.floor((id - 1_001) / 10_000))).toEqual(
    Array.from({ length: 1_000 }, (_, part) => part),
  );
  const odd = ids.filter((id) => id % 2 === 1).length;
  expect(odd).toBeGreaterThan(400);
  expect(odd).toBeLessThan(600);
});

test("every table that grows can be measured, also without a row", async () => {
  const found = await measureTables(store.read, begin);
  expect(found.length).toBeGreaterThan(12);
  expect(found.every(({ recent, firstAt }) => recent === 0 && firstAt === undefined)).toBe(true);
  await addFiles(2_000);
  const before = await usedDatabaseBytes(store.read);
  await store.write("site", (tx) => tx.deleteFrom("files").execute());
  // Free pages do not count; PostgreSQL gives them back by itself, later.
  if (isOnPostgres) expect(before).toBeGreaterThan(0);
  else expect(await usedDatabaseBytes(store.read)).toBeLessThan(before - 100_000);
});

test("files count in whole blocks by where they lie, those that users have removed nothing, unlike those too old", async () => {
  await addFiles(2, { size: 4_097 });
  await addFiles(1, { state: "refused", size: 1 });
  await addFiles(1, { state: "duplicate", size: 0 });
  // The receipt beside a refused file as well.
  expect(await meanFiledBytes(store.read)).toEqual({ archive: (2 * 8_192) / 4, error: (2 * 4_096) / 4 });
  const meant = await meanFiledBytes(store.read);
  const removed = { removed_at: 1 };
  await store.write("site", (tx) =>
    tx
      .updateTable("files")
      .set({ ...removed, pruned_days: 30 })
      .execute(),
  );
  expect(await meanFiledBytes(store.read)).toEqual(meant);
  await store.write("site", (tx) =>
    tx
      .updateTable("files")
      .set({ ...removed, pruned_days: null })
      .execute(),
  );
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
