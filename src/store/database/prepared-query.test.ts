import { join } from "node:path";
import BetterSqlite from "better-sqlite3";
import type { Kysely } from "kysely";
import { expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { databaseFileName, openStore } from "./database.ts";
import { prepareQuery } from "./prepared-query.ts";

async function opened() {
  const folder = temporaryFolder();
  const store = await openStore(folder);
  onTestFinished(() => store.close());
  const other = new BetterSqlite(join(folder, databaseFileName));
  onTestFinished(() => void other.close());
  return { store, other };
}

it("a query that cannot be prepared is rejected, never thrown, and prepared at a later run", async () => {
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
});

it("a query that was prepared before the tables were changed gives what they hold now", async () => {
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
