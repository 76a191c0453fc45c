import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { itOnSqlite } from "../../../test/support/store-dialect.ts";
import { databaseFileName, openStore } from "./database.ts";
import { findSchema, migrate } from "./migrate.ts";
import { earlySchemas } from "./migrations/early-schemas.ts";
import { migrations } from "./migrations/migrations.ts";
import { currentSchema } from "./schema-plan.ts";

const lastFingerprint = migrations.at(-1)?.fingerprint;

function metaOf(path: string): Record<string, string> {
  const database = new BetterSqlite(path, { readonly: true });
  const rows = database.prepare<[], { key: string; value: string }>("select key, value from meta").all();
  database.close();
  return Object.fromEntries(rows.map(({ key, value }) => [key, value]));
}

/** A state directory whose database is changed by hand after it was made. */
async function madeState(change = ""): Promise<string> {
  const directory = temporaryFolder();
  await (await openStore(directory)).close();
  const database = new BetterSqlite(join(directory, databaseFileName));
  database.exec(change);
  database.close();
  return directory;
}

describe("a new database", () => {
  itOnSqlite("gets the newest schema, notes number and fingerprint, and is not copied", async () => {
    const directory = await madeState();
    expect(metaOf(join(directory, databaseFileName))).toMatchObject({
      schema: String(currentSchema),
      fingerprint: lastFingerprint,
    });
    expect(readdirSync(directory).filter((name) => name.includes("before"))).toEqual([]);
  });
});

describe("the schema of a database", () => {
  itOnSqlite("is refused when a table is not as it should be, and the message names it", async () => {
    const directory = await madeState("alter table stops add column colour text; drop table documents");
    await expect(openStore(directory)).rejects.toThrow(
      /says that it has schema \d+, but its tables are not those of .*table documents is missing, table stops differs/,
    );
  });

  itOnSqlite("is refused when the database has tables of something else", async () => {
    const directory = temporaryFolder();
    const path = join(directory, databaseFileName);
    const database = new BetterSqlite(path);
    database.exec("create table invoices (id integer)");
    database.close();
    await expect(openStore(directory)).rejects.toThrow("does not say which schema they are");
    const after = new BetterSqlite(path, { readonly: true });
    expect(after.prepare("select name from sqlite_schema").pluck().all()).toEqual(["invoices"]);
    after.close();
  });

  itOnSqlite("is taken when its fingerprint was not noted, as until 0.1.0, and noted then", async () => {
    const directory = await madeState("delete from meta where key = 'fingerprint'");
    await (await openStore(directory)).close();
    expect(metaOf(join(directory, databaseFileName))["fingerprint"]).toBe(lastFingerprint);
  });
});

const insertStop = `insert into stops
  (company_id, stop_nbr, stop_nbr_key, stop_status, receive_status, body, execution, created_at, updated_at)
  values (1, ?, ?, '05', '05', '{}', '{}', 1, 1) returning id`;

/** A database with the oldest schema, with an id that was given and taken back. */
function oldestDatabase(path: string): {
  readonly database: BetterSqlite.Database;
  readonly takenBack: number;
} {
  const database = new BetterSqlite(path);
  database.exec(
    readFileSync(new URL("../../../test/fixtures/databases/01-files-and-stops.sql", import.meta.url), "utf8"),
  );
  const takenBack = Number(database.prepare(insertStop).pluck().get("gone", "gone"));
  database.exec("delete from stops where stop_nbr = 'gone'");
  return { database, takenBack };
}

describe("a database from before the first migration", () => {
  it("is copied and brought to the newest schema, with its rows and without giving an id twice", async () => {
    const path = join(temporaryFolder(), databaseFileName);
    const { database, takenBack } = oldestDatabase(path);
    const said: string[] = [];
    const log = { info: (...args: unknown[]) => void said.push(String(args.at(-1))) };
    await migrate(database, { path, log });
    expect(findSchema(database)).toMatchObject({ number: currentSchema, fingerprint: lastFingerprint });
    expect(database.prepare(insertStop).pluck().get("next", "next")).toBe(takenBack + 1);
    expect(database.pragma("foreign_keys", { simple: true })).toBe(1);
    database.close();
    expect(said[0]).toBe("copying the database before its migration");
    expect(said.filter((line) => line === "database migrated")).toHaveLength(
      earlySchemas.length + currentSchema - 1,
    );
    const copy = new BetterSqlite(`${path}.before-${currentSchema}`, { readonly: true });
    expect(findSchema(copy)).toMatchObject({ number: 1, fingerprint: earlySchemas[0]?.fingerprint });
    expect(copy.prepare("select user_name from users").pluck().all()).toEqual(["ann", "host"]);
    copy.close();
    expect(statSync(`${path}.before-${currentSchema}`).mode & 0o777).toBe(0o640);
  });

  it("stays as it is when a step would leave rows that refer to nothing", async () => {
    const path = join(temporaryFolder(), databaseFileName);
    const { database } = oldestDatabase(path);
    database.pragma("foreign_keys = OFF");
    database.exec("insert into memberships values (7, 1, 'nobody', '[]')");
    await expect(migrate(database, { path })).rejects.toThrow(
      "rows of memberships refer to rows of companies",
    );
    expect(findSchema(database)).toMatchObject({ number: 1, fingerprint: earlySchemas[0]?.fingerprint });
    expect(existsSync(`${path}.before-${currentSchema}`)).toBe(true);
    database.close();
  });
});
