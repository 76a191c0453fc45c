/** Entries of the ledger that are removed because of their age (specification/file-exchange.md#retention). */
import { rmSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite from "better-sqlite3";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { ledgerOfEachTest } from "../../src/inbound/testing/ledger-fixture.ts";
import { retryFiles } from "../../src/app/admin/file-retry.ts";
import { tellNoEntry } from "../../src/app/admin/ledger-admin.ts";
import { agesOf } from "../../src/config/company-settings.ts";
import type { FileKind } from "../../src/inbound/pruning/pruning.ts";
import { tellOf } from "../../src/inbound/testing/told-explanation.ts";
import { databaseFileName } from "../../src/store/database/database.ts";
import { connectionOf } from "../../src/store/database/prepared-query.ts";
import { noteTaken } from "../../src/store/ledger/remote-files.ts";
import {
  start,
  fixture,
  prune,
  wouldGo,
  filed,
  verify,
  expectCorrect,
  isThere,
  receiptPath,
  a,
  b,
  c,
  configOf,
} from "../support/aging-files.ts";
import { watchStatements } from "../support/watch-statements.ts";
import { dayMs } from "../../src/lib/durations.ts";
import { itOnSqlite } from "../support/store-dialect.ts";

ledgerOfEachTest(fixture);

describe("entries of the ledger", () => {
  const ages = { archive: 10, error: 10, receipts: 10, ledger: 20 };

  test("go after their files, are counted for ever, and the proof goes on", async () => {
    await filed(a);
    await filed(b, { state: "superseded" });
    await filed(c, { day: 5 });
    await fixture.wait("4_20261105_080000.xml");
    const pass = { retention: ages, day: 21 };
    expect((await wouldGo(pass)).find(({ kind }) => kind === "ledger")).toEqual({
      ...{ kind: "ledger", company: "ACME", count: 2, bytes: 0, oldestAt: start, newestAt: start },
    });
    expect((await prune(pass))["ledger"]).toEqual([2, 0]);
    const account = { received: 4, applied: 2, superseded: 1, waiting: 1, pruned: 2 };
    expect(await expectCorrect(account)).toMatchObject({ entries: 2, pruned: 1 });
    expect((await prune({ retention: ages, day: 26 }))["ledger"]).toEqual([1, 0]);
    await expectCorrect({ ...account, pruned: 3 });
    expect((await fixture.store.read.selectFrom("pruned_entries").selectAll().execute())[0]).toMatchObject({
      ...{ applied: 2, superseded: 1, decided_until: start + 5 * dayMs, pruned_days: 20 },
    });
  });

  test("that are missing without having been pruned are found", async () => {
    await filed(a);
    const lost = await filed(b, { day: 15 });
    await filed(c, { day: 15 });
    await prune({ retention: ages, day: 21 });
    await expectCorrect({ received: 3, pruned: 1 });
    await fixture.store.write("site", (tx) => tx.deleteFrom("files").where("id", "=", lost.id).execute());
    rmSync(join(fixture.stateDir, lost.location));
    expect((await verify()).discrepancies).toEqual([
      {
        ...{ kind: "count", location: "ledger" },
        message: "3 entries were made, 1 are there and 1 were removed by their age: 1 are missing",
      },
    ]);
  });

  // On a server numbers have gaps, and entries are counted where they are made, by no table of numbers.
  itOnSqlite.each([
    ["ledger_gaps", "how many numbers had no entry"],
    ["sqlite_sequence", "the number of its newest entry"],
  ])("are not said to be all there when %s is lost", async (table, words) => {
    await filed(a);
    await filed(b, { day: 15 });
    await prune({ retention: ages, day: 21 });
    expect((await verify()).unproved).toEqual([]);
    await fixture.store.write("site", (tx) => sql`delete from ${sql.table(table)}`.execute(tx));
    expect(await verify()).toMatchObject({
      ...{ discrepancyCount: 0, unproved: [expect.stringContaining(`has lost ${words}`)] },
    });
  });

  itOnSqlite(
    "are not said to be all there while a pass removes some, or where numbers had none before",
    async () => {
      await filed(a);
      await filed(b);
      await fixture.store.write("site", (tx) => tx.updateTable("ledger_gaps").set({ ids: 1 }).execute());
      const before = await verify();
      expect(before.unproved).toEqual([expect.stringContaining("whether 1 number without an entry had one")]);
      await prune({ retention: ages, day: 21 });
      await fixture.store.write("site", (tx) => tx.updateTable("ledger_gaps").set({ ids: 0 }).execute());
      // Each look at what was removed finds one more.
      const other = new BetterSqlite(join(fixture.stateDir, databaseFileName));
      const end = watchStatements(await connectionOf(fixture.store.read), (statement) => {
        if (statement.includes("sqlite_sequence"))
          other.exec("update pruned_entries set applied = applied + 1");
      });
      const report = await verify().finally(end);
      other.close();
      expect(report.unproved).toEqual([expect.stringContaining("removed by their age all the while")]);
    },
  );

  test("stay until their receipts are gone, which nobody would find any more without them", async () => {
    await filed(a);
    const pass = { retention: ages, day: 21 };
    const isHeldUp = (kind: FileKind) => kind === "receipts";
    expect(await prune({ ...pass, isHeldUp })).toEqual({ archive: [1, a.length] });
    expect(isThere(receiptPath(a))).toBe(true);
    expect(await prune(pass)).toMatchObject({ receipts: [1, expect.any(Number)], ledger: [1, 0] });
    expect(isThere(receiptPath(a))).toBe(false);
  });

  test("stay while a duplicate that refers to them is kept", async () => {
    const first = await filed(a);
    await filed(`x${a}`, { day: 15, state: "duplicate", firstId: first.id });
    await fixture.store.write("site", (tx) => tx.updateTable("files").set({ name: a }).execute());
    expect((await prune({ retention: ages, day: 30 }))["ledger"]).toBeUndefined();
    expect((await prune({ retention: ages, day: 36 }))["ledger"]).toEqual([1, 0]);
    expect((await prune({ retention: ages, day: 36 }))["ledger"]).toEqual([1, 0]);
    await expectCorrect({ received: 2, applied: 1, duplicate: 1, pruned: 2 });
  });

  test("stay while a remote has still to look up whether its file is there", async () => {
    const key = { companyId: fixture.companyId, remote: "host" };
    const file = { name: a, size: 1, modified: "", sha256: "x" };
    await fixture.store.write(key.companyId, (tx) => noteTaken(tx, key, { files: [file], at: start }));
    await filed(a);
    await filed(b);
    expect((await prune({ retention: ages, day: 30 }))["ledger"]).toEqual([1, 0]);
    const names = await fixture.store.read.selectFrom("files").select("name").execute();
    expect(names).toEqual([{ name: a }]);
  });

  test("stay while their files do, also when those could not be removed", async () => {
    const { location } = await filed(a);
    rmSync(join(fixture.stateDir, location));
    expect((await prune({ retention: ages, day: 1_000 }))["ledger"]).toBeUndefined();
    expect((await verify()).discrepancies).toMatchObject([{ kind: "missing" }]);
  });
});

test("each kind has one age, and one pruner at most", async () => {
  const config = await configOf({});
  const { pruners } = await import("../../src/app/retention/pruners.ts");
  const kinds = pruners.map(({ kind }) => kind);
  expect(new Set(kinds).size).toBe(kinds.length);
  for (const kind of kinds) expect(agesOf(config, "ACME")).toHaveProperty(kind);
});

describe("of an entry that is kept no longer", () => {
  const retention = { archive: 10, error: 10, receipts: 10, ledger: 20 };
  const words =
    "ledger entries of company ACME that were decided until 2026-11-05T08:00:00.000Z were removed by the retention of 20 days, the last on 2026-11-26";

  test("`file show` and `file retry` say until which decision entries were removed, and of no other number", async () => {
    const { id } = await filed(a, { state: "refused" });
    const config = await configOf(retention);
    const other = `there is no ledger entry ${id}: \`dropgate files\` lists them`;
    expect(await tellNoEntry(config, String(id))).toBe(other);
    await prune({ retention, day: 21 });
    expect(await tellNoEntry(config, String(id))).toBe(`the ledger entry ${id} is kept no longer: ${words}`);
    expect(await tellNoEntry(config, String(id + 1))).toContain("there is no ledger entry");
    const { retries } = await retryFiles(config, [String(id)], { isDryRun: false });
    expect(retries).toMatchObject([
      { id: null, why: `the ledger entry ${id} is kept no longer: ${words}; have the file sent again` },
    ]);
  });

  test("`explain` says so of its name, and not of one that has an entry", async () => {
    await filed(a);
    await filed(b, { day: 15 });
    expect(await tellOf(fixture, a)).not.toContain("known no longer");
    await prune({ retention, day: 21 });
    expect(await tellOf(fixture, a)).toContain(`A file of it may be known no longer: ${words}.`);
    expect(await tellOf(fixture, b)).not.toContain("known no longer");
  });
});
