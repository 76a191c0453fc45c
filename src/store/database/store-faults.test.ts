/** What the store says of its own faults: each is held apart from values that are wrong. */
import { join } from "node:path";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { damageTable } from "../../../test/support/damage-database.ts";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { itOnSqlite } from "../../../test/support/store-dialect.ts";
import { isPassingStoreError, isStoreFault, StoreError } from "../../lib/store-error.ts";
import { insertCompany } from "../accounts/companies.ts";
import { databaseFileName, openStore, type Store } from "./database.ts";
import { storeErrorKindOf } from "./sqlite-dialect.ts";

async function opened(directory = temporaryFolder()): Promise<Store> {
  const store = await openStore(directory);
  onTestFinished(() => store.close());
  return store;
}

async function errorOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

test("a statement that names a column the schema does not have is a fault of the store, not of what is written", async () => {
  const store = await opened();
  const error = await errorOf(store.write("site", (tx) => sql`update files set routed = 1`.execute(tx)));
  expect(error).toMatchObject({
    kind: "unfit",
    message: expect.stringMatching(/no such column|does not exist/),
  });
  expect([isStoreFault(error), isPassingStoreError(error)]).toEqual([true, false]);
});

itOnSqlite("a damaged page is a fault of the store that does not pass", async () => {
  const directory = temporaryFolder();
  await (await openStore(directory)).close();
  damageTable(join(directory, databaseFileName), "stops");
  const store = await opened(directory);
  const error = await errorOf(store.read.selectFrom("stops").selectAll().execute());
  expect(error).toMatchObject({ kind: "damaged" });
  expect([isStoreFault(error), isPassingStoreError(error)]).toEqual([true, false]);
  // What does not lie on that page goes on.
  await store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }));
});

itOnSqlite("a unit of work that meets a damaged page takes none with it that shares its commit", async () => {
  const directory = temporaryFolder();
  await (await openStore(directory)).close();
  damageTable(join(directory, databaseFileName), "stops");
  const store = await opened(directory);
  const meets = (code: string) =>
    store.write("site", async (tx) => {
      await insertCompany(tx, { code, createdAt: 1 });
      await sql`insert into stops select * from stops`.execute(tx);
    });
  const outcomes = await Promise.allSettled([
    store.write("site", (tx) => insertCompany(tx, { code: "BEFORE", createdAt: 1 })),
    meets("HURT1"),
    meets("HURT2"),
    store.write("site", (tx) => insertCompany(tx, { code: "AFTER", createdAt: 1 })),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"]);
  const kept = await store.read.selectFrom("companies").select("code").orderBy("id").execute();
  expect(kept.map(({ code }) => code)).toEqual(["BEFORE", "AFTER"]);
});

test("a value that breaks a constraint is refused, and no fault of the store", async () => {
  const store = await opened();
  const error = await errorOf(
    store.write("site", (tx) => sql`insert into meta (key, value) values ('instance', 'x')`.execute(tx)),
  );
  expect(error).toMatchObject({ kind: "refused" });
  expect(isStoreFault(error)).toBe(false);
});

test.each([
  ["SQLITE_BUSY_SNAPSHOT", "busy"],
  ["SQLITE_FULL", "unavailable"],
  ["SQLITE_READONLY_DBMOVED", "unavailable"],
  ["SQLITE_IOERR_READ", "unavailable"],
  ["SQLITE_CORRUPT_INDEX", "damaged"],
  ["SQLITE_NOTADB", "damaged"],
  ["SQLITE_ERROR", "unfit"],
  ["SQLITE_CONSTRAINT_UNIQUE", "refused"],
  ["SQLITE_TOOBIG", "refused"],
] as const)("%s means that the store is %s", (code, kind) => {
  expect(storeErrorKindOf(code)).toBe(kind);
  expect(isStoreFault(new StoreError(kind, "", undefined))).toBe(kind !== "refused");
});
