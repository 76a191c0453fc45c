import { join } from "node:path";
import BetterSqlite from "better-sqlite3";
import type { Kysely } from "kysely";
import { expect, it, onTestFinished } from "vitest";
import { watchStatements } from "../../../test/support/watch-statements.ts";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { itOnSqlite } from "../../../test/support/store-dialect.ts";
import { databaseFileName, openStore } from "./database.ts";
import { namedColumns } from "./named-rows.ts";
import { connectionOf, excluded, prepareQuery } from "./prepared-query.ts";

async function opened() {
  const folder = temporaryFolder();
  const store = await openStore(folder);
  onTestFinished(() => store.close());
  const other = new BetterSqlite(join(folder, databaseFileName));
  onTestFinished(() => void other.close());
  return { store, other };
}

itOnSqlite(
  "a query that cannot be prepared is rejected, never thrown, and prepared at a later run",
  async () => {
    const { store, other } = await opened();
    const mottos = prepareQuery<object, { motto: string }>((db) =>
      (db as unknown as Kysely<{ mottos: { motto: string } }>).selectFrom("mottos").select("motto"),
    );
    const failing = mottos.run(store.read, {});
    await expect(failing).rejects.toMatchObject({ kind: "unfit" });
    await expect(store.write("site", (tx) => mottos.run(tx, {}))).rejects.toMatchObject({ kind: "unfit" });
    other.exec("create table mottos (motto text)");
    other.exec("insert into mottos values ('once')");
    expect((await mottos.run(store.read, {})).rows).toEqual([{ motto: "once" }]);
    expect((await store.write("site", (tx) => mottos.run(tx, {}))).rows).toEqual([{ motto: "once" }]);
  },
);

itOnSqlite("a query that was prepared before the tables were changed gives what they hold now", async () => {
  const { store, other } = await opened();
  const query = prepareQuery<{ code: string }, { created_at: number }>((db, arg) =>
    db.selectFrom("companies").select("created_at").where("code", "=", arg("code")),
  );
  expect((await query.run(store.read, { code: "ACME" })).rows).toEqual([]);
  other.exec("alter table companies add column motto text");
  other.exec("insert into companies (code, code_key, created_at) values ('ACME', 'acme', 7)");
  expect((await query.run(store.read, { code: "ACME" })).rows).toEqual([{ created_at: 7 }]);
  other.exec("alter table companies rename to firms");
  await expect(query.run(store.read, { code: "ACME" })).rejects.toMatchObject({ kind: "unfit" });
  other.exec("alter table firms rename to companies");
  expect((await query.run(store.read, { code: "ACME" })).rows).toHaveLength(1);
});

it("an insert that finds its key replaces all columns of `excluded`, and those alone", async () => {
  const { store } = await opened();
  const noted = { companyId: 1, stopNbr: "S1", loadId: 7, etaAt: 100 };
  const save = prepareQuery<typeof noted>((db, arg) => {
    const sent = { eta_at: arg("etaAt") };
    return db
      .insertInto("message_etas")
      .values({ company_id: arg("companyId"), stop_nbr: arg("stopNbr"), load_id: arg("loadId"), ...sent })
      .onConflict((conflict) => conflict.columns(["company_id", "stop_nbr"]).doUpdateSet(excluded(sent)));
  });
  const etas = prepareQuery<{ stopNbr: string }, { loadId: number; etaAt: number }>((db, arg) =>
    db
      .selectFrom("message_etas")
      .select(namedColumns("load_id", "eta_at"))
      .where("stop_nbr", "=", arg("stopNbr")),
  );
  await store.write("site", async (tx) => {
    await tx.insertInto("companies").values({ code: "ACME", code_key: "acme", created_at: 1 }).execute();
    await save.run(tx, noted);
    await save.run(tx, { ...noted, loadId: 8, etaAt: 200 });
  });
  expect(await etas.rows(store.read, { stopNbr: "S1" })).toEqual([{ loadId: 7, etaAt: 200 }]);
  expect(await etas.find(store.read, { stopNbr: "S1" })).toEqual({ loadId: 7, etaAt: 200 });
  expect(await etas.find(store.read, { stopNbr: "S2" })).toBeUndefined();
});

it("`changes` says whether a row was changed", async () => {
  const { store } = await opened();
  const rename = prepareQuery<{ key: string }>((db, arg) =>
    db.updateTable("companies").set({ name: "Acme" }).where("code_key", "=", arg("key")),
  );
  await store.write("site", async (tx) => {
    await tx.insertInto("companies").values({ code: "ACME", code_key: "acme", created_at: 1 }).execute();
    expect(await rename.changes(tx, { key: "acme" })).toBe(true);
    expect(await rename.changes(tx, { key: "other" })).toBe(false);
  });
});

itOnSqlite("SQLite plans for no argument of a prepared query, and so prepares it once only", async () => {
  const { store } = await opened();
  const query = prepareQuery<{ code: string; limit: number }, { id: number }>((db, arg) =>
    db
      .selectFrom("companies")
      .select("id")
      .where("code", "=", arg("code"))
      .where("name", "!=", "old")
      .limit(arg("limit")),
  );
  const asked: string[] = [];
  onTestFinished(watchStatements(await connectionOf(store.read), (sql) => asked.push(sql)));
  await query.run(store.read, { code: "ACME", limit: 1 });
  expect(asked).toEqual(['select "id" from "companies" where "code" = +? and "name" != ? limit +?']);
});
