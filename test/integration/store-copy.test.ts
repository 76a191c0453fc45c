/** A copy of the database from SQLite to PostgreSQL and back, on a real server. */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { copiedTables } from "../../src/store/database/copy/copied-tables.ts";
import { openSqliteSource } from "../../src/store/database/copy/copy-from-sqlite.ts";
import { copyStore } from "../../src/store/database/copy/copy-store.ts";
import { sqliteTables } from "../../src/store/database/copy/sqlite-rows.ts";
import {
  databaseFileName,
  markerFileName,
  openStore,
  unfinishedCopyName,
} from "../../src/store/database/database.ts";
import { migrations } from "../../src/store/database/migrations/migrations.ts";
import { openPostgresSource } from "../../src/store/database/postgres/copy-from-postgres.ts";
import { CopySession } from "../../src/store/database/postgres/copy-session.ts";
import { postgresTables } from "../../src/store/database/postgres/postgres-rows.ts";
import { takeProcessLock } from "../../src/store/database/process-lock.ts";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import { dumpTables, fillTables, numberedTables } from "../support/fill-tables.ts";
import { askPostgres, hasPostgres, type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { isOnPostgres } from "../support/store-dialect.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let server: PostgresServer;
let databases = 0;

beforeAll(async () => {
  if (hasPostgres) server = await startPostgres();
});
afterAll(() => {
  if (hasPostgres) server.stop();
});

async function emptyDatabase(): Promise<string> {
  databases += 1;
  return await server.makeDatabase(`copy_${databases}`);
}

function opened(stateDir: string): BetterSqlite.Database {
  const database = new BetterSqlite(join(stateDir, databaseFileName));
  onTestFinished(() => void database.close());
  return database;
}

/** Changes the SQLite database of a state. */
function change(stateDir: string, work: (database: BetterSqlite.Database) => void): void {
  const database = new BetterSqlite(join(stateDir, databaseFileName));
  work(database);
  database.close();
}

/** A state with rows in each table. */
async function filledState(): Promise<string> {
  const stateDir = temporaryFolder();
  await (await openStore(stateDir)).close();
  change(stateDir, (database) => {
    fillTables(database);
    database.exec("update sqlite_sequence set seq = seq + 5 where name in ('files', 'stops')");
    database.exec("update ledger_gaps set ids = 2");
    database.exec("delete from pruned_entries; delete from messages where id = 9");
  });
  return stateDir;
}

const toPostgres = (stateDir: string, url: string, isAnew = false) =>
  copyStore({ stateDir, url, direction: "to postgres", isAnew });
const toSqlite = (stateDir: string, url: string, isAnew = false) =>
  copyStore({ stateDir, url, direction: "to sqlite", isAnew });

function moveDatabaseAway(stateDir: string): string {
  const away = temporaryFolder();
  for (const suffix of ["", "-wal", "-shm"]) {
    const path = join(stateDir, `${databaseFileName}${suffix}`);
    if (existsSync(path)) renameSync(path, join(away, `${databaseFileName}${suffix}`));
  }
  return away;
}

describe.runIf(hasPostgres && !isOnPostgres)("a copy of the database", () => {
  it("has each row of each table of SQLite on PostgreSQL, and again on SQLite, and goes on with the same ids", async () => {
    const [stateDir, url] = [await filledState(), await emptyDatabase()];
    const there = await toPostgres(stateDir, url);
    expect(there.tables.filter(({ isSame }) => !isSame)).toEqual([]);
    expect(there).toMatchObject({ areCountersSame: true, isComplete: true });
    const away = moveDatabaseAway(stateDir);
    const back = await toSqlite(stateDir, url);
    expect(back).toEqual(there);

    const [before, after, numbered] = [opened(away), opened(stateDir), await numberedTables(url)];
    expect(numbered.size).toBeGreaterThan(3);
    const [wanted, found] = [dumpTables(before, numbered), dumpTables(after, numbered)];
    expect([...found.keys()]).toEqual([...wanted.keys()]);
    for (const [table, rows] of wanted) expect(found.get(table), table).toEqual(rows);
    const counted = [...wanted].filter(([name]) => !name.startsWith("sqlite") && name !== "ledger_gaps");
    expect(there.tables.map(({ table }) => table).toSorted()).toEqual(
      counted.map(([name]) => name).toSorted(),
    );
    // What the database says of itself is not counted.
    for (const { table, rows } of there.tables)
      expect(rows, table).toBe((wanted.get(table)?.length ?? 0) - (table === "meta" ? 2 : 0));
    expect(
      Math.min(...there.tables.filter(({ table }) => table !== "pruned_entries").map(({ rows }) => rows)),
    ).toBeGreaterThan(0);
    const schemaOf = (database: BetterSqlite.Database) =>
      database.prepare("select type, name, tbl_name, sql from sqlite_schema order by type, name").all();
    expect(schemaOf(after)).toEqual(schemaOf(before));
    expect(after.pragma("auto_vacuum", { simple: true })).toBe(2);
  });

  it("gives PostgreSQL the next ids and row numbers, the entries of each company, and the gaps of the ledger", async () => {
    const [stateDir, url] = [await filledState(), await emptyDatabase()];
    change(stateDir, (database) => {
      database.exec("insert into pruned_entries values (3, 2, 1, 1, 0, 5, 5, 5)");
    });
    await toPostgres(stateDir, url);
    // 14 ids given, 2 of them without an entry: 9 are there, 4 were removed, and one is missing.
    expect(await askPostgres(url, "select ids from ledger_gaps")).toEqual([["2"]]);
    expect(await askPostgres(url, "select company_id, entries from entered_files order by 1")).toEqual(
      [1, 2, 3, 4, 5, 6, 7, 8, 9].map((id) => [String(id), id === 1 ? "0" : id === 3 ? "5" : "1"]),
    );
    const nextOf = (sequence: string) => askPostgres(url, `select nextval('${sequence}')`);
    expect(await nextOf("files_id_seq")).toEqual([["15"]]);
    expect(await nextOf("messages_id_seq")).toEqual([["10"]]);
    expect(await nextOf("documents_rowid_seq")).toEqual([["10"]]);
  });

  it("is a database with which the store works on, with the references, indexes and triggers of any other", async () => {
    // Without the triggers that hold units of work to their rules in tests.
    vi.stubEnv("DROPGATE_CHECK_UNITS", "0");
    onTestFinished(() => void vi.unstubAllEnvs());
    const stateDir = temporaryFolder();
    const store = await openStore(stateDir);
    const { company } = await store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }));
    await store.close();
    const [url, plain] = [await emptyDatabase(), await emptyDatabase()];
    await toPostgres(stateDir, url);
    await (await openStore(temporaryFolder(), { url: plain })).close();
    for (const text of [
      "select indexdef from pg_indexes where schemaname = 'public' order by 1",
      "select conrelid::regclass::text, conname, convalidated, pg_get_constraintdef(oid) from pg_constraint order by 1, 2",
      "select tgrelid::regclass::text, tgname, tgenabled from pg_trigger where not tgisinternal order by 1, 2",
      "select key, value from meta where key in ('schema', 'fingerprint', 'unfinished_copy') order by 1",
    ])
      expect(await askPostgres(url, text)).toEqual(await askPostgres(plain, text));
    const copied = await openStore(stateDir, { url });
    const next = await copied.write("site", (tx) => insertCompany(tx, { code: "NEXT", createdAt: 2 }));
    await copied.close();
    expect(next.company.id).toBe(company.id + 1);
  });

  it("has the tables that the databases have, also one of a later migration; one of them alone is an error", async () => {
    const [stateDir, url] = [await filledState(), await emptyDatabase()];
    await toPostgres(stateDir, url);
    const [database, session] = [opened(stateDir), await CopySession.connect(url)];
    onTestFinished(() => session.close());
    const tables = async () => copiedTables(sqliteTables(database), await postgresTables(session));
    database.exec(
      "create table later (company_id integer not null, at real, note text, primary key (company_id, note))",
    );
    await expect(tables()).rejects.toThrow("the table later is in SQLite alone");
    await session.ask(
      'create table later (company_id bigint, at double precision, note text collate "C", rowid bigint)',
    );
    expect((await tables()).find(({ name }) => name === "later")).toEqual({
      name: "later",
      key: ["company_id", "note"],
      columns: [
        { name: "company_id", kind: "integer" },
        { name: "at", kind: "real" },
        { name: "note", kind: "text" },
        { name: "rowid", kind: "integer" },
      ],
    });
    await session.ask("alter table later add column more text");
    await expect(tables()).rejects.toThrow("later.more is in PostgreSQL alone");
    await session.ask("create table last (id bigint)");
    await session.ask("drop table later");
    database.exec("drop table later");
    await expect(tables()).rejects.toThrow("the table last is in PostgreSQL alone");
  });

  it.each([
    [
      "NUL",
      "update stops set bol = 'a' || char(0) || 'b' where id = 4",
      /^stops, row with id 4, column bol: .*NUL/,
    ],
    [
      "bytes that are no UTF-8",
      "update stops set bol = cast(x'61ff' as text) where id = 4",
      /id 4, column bol: .*UTF-8/,
    ],
    [
      "a text in the place of a number",
      "update file_stops set file_id = 'x' where stop_nbr like '1%'",
      /^file_stops, row with company_id 1, .*column file_id: .*whole number/,
    ],
    [
      "bytes in the place of a text",
      "update users set password_hash = x'00' where id = 1",
      /^users, row with id 1, column password_hash: .*no text/,
    ],
    ["a reference to nothing", "delete from loads where id = 3", /violates foreign key/],
  ])("is refused for %s, and names the place", async (_, fault, message) => {
    const [stateDir, url] = [await filledState(), await emptyDatabase()];
    change(stateDir, (database) => {
      database.pragma("foreign_keys = OFF");
      database.exec(fault);
    });
    await expect(toPostgres(stateDir, url)).rejects.toThrow(message);
    await expect(openStore(stateDir, { url })).rejects.toThrow(/copy that was not finished: make it again/);
    await expect(toPostgres(stateDir, url)).rejects.toThrow(/not finished: begin anew with --anew/);
    expect(await askPostgres(url, "select count(*) from companies")).toEqual([["0"]]);
  });

  it("that differs from its source is told, and left unfinished; begun anew, it is complete", async () => {
    const [stateDir, url] = [await filledState(), await emptyDatabase()];
    await (await openStore(temporaryFolder(), { url })).close();
    await askPostgres(
      url,
      `create function spoil() returns trigger language plpgsql as $$ begin new.name := 'spoilt'; return new; end $$;
       create trigger spoil before insert on documents for each row execute function spoil();
       alter table documents enable always trigger spoil`,
    );
    const copied = await toPostgres(stateDir, url);
    expect(copied.isComplete).toBe(false);
    expect(copied.tables.filter(({ isSame }) => !isSame).map(({ table }) => table)).toEqual(["documents"]);
    await expect(openStore(stateDir, { url })).rejects.toThrow(/not finished/);
    await askPostgres(url, "drop function spoil cascade");
    expect(await toPostgres(stateDir, url, true)).toMatchObject({ isComplete: true });
    await expect(toPostgres(stateDir, url, true)).rejects.toThrow(/has a state already/);
  });

  it("is refused where the source is in use, of an older version, or not the state of the directory", async () => {
    const [stateDir, url] = [await filledState(), await emptyDatabase()];
    const lock = takeProcessLock(stateDir);
    await expect(toPostgres(stateDir, url)).rejects.toThrow(/in use by process \d+: stop dropgate/);
    lock.release();
    const before = migrations.at(-2)?.fingerprint ?? "";
    change(stateDir, (database) => {
      // As before the last migration.
      database.pragma("foreign_keys = off");
      const isTable = "type = 'table' and name not like 'sqlite_%' and name <> 'meta'";
      const tables = database.prepare<[], string>(`select name from sqlite_schema where ${isTable}`).pluck();
      for (const table of tables.all()) database.exec(`drop table ${table}`);
      for (const { sql } of migrations.slice(0, -1)) database.exec(sql);
      const noted = { fingerprint: before, schema: migrations.length - 1 };
      const note = database.prepare("insert or replace into meta (key, value) values (?, ?)");
      for (const [key, value] of Object.entries(noted)) note.run(key, String(value));
    });
    await expect(toPostgres(stateDir, url)).rejects.toThrow(/of an older version: start dropgate on it once/);
    const other = await filledState();
    writeFileSync(join(other, markerFileName), "another\n");
    await expect(toPostgres(other, url)).rejects.toThrow(/is not the one of the marker/);
    await expect(toPostgres(temporaryFolder(), url)).rejects.toThrow(/there is no state in/);
    expect(await askPostgres(url, "select to_regclass('meta')")).toEqual([[null]]);
  });

  it("is refused where the database on PostgreSQL is in use, of others, or of another state", async () => {
    const [stateDir, url] = [await filledState(), await emptyDatabase()];
    const store = await openStore(temporaryFolder(), { url });
    await expect(toPostgres(stateDir, url)).rejects.toThrow(/sessions? of dropgate .* connected/);
    await store.close();
    // Without any row it is empty, although it has tables.
    expect(await toPostgres(stateDir, url)).toMatchObject({ isComplete: true });
    moveDatabaseAway(stateDir);
    const copied = await openStore(stateDir, { url });
    await expect(toSqlite(stateDir, url)).rejects.toThrow(/sessions? of dropgate .* connected/);
    await copied.close();
    const elsewhere = temporaryFolder();
    await (await openStore(elsewhere)).close();
    moveDatabaseAway(elsewhere);
    await expect(toSqlite(elsewhere, url)).rejects.toThrow(/not the one of this state directory/);
    const others = await emptyDatabase();
    await askPostgres(others, "create table invoices (id bigint)");
    await expect(toPostgres(await filledState(), others)).rejects.toThrow(/tables that are not dropgate's/);
  });

  it("replaces no SQLite database, nor what a copy has left, unless it is begun anew", async () => {
    const [stateDir, url] = [await filledState(), await emptyDatabase()];
    await toPostgres(stateDir, url);
    await expect(toSqlite(stateDir, url)).rejects.toThrow(/dropgate\.db is there already/);
    moveDatabaseAway(stateDir);
    writeFileSync(join(stateDir, unfinishedCopyName), "");
    await expect(openStore(stateDir)).rejects.toThrow(/copy that was not finished: make it again/);
    await expect(toSqlite(stateDir, url)).rejects.toThrow(/begin anew with --anew/);
    expect(await toSqlite(stateDir, url, true)).toMatchObject({ isComplete: true });
    expect(existsSync(join(stateDir, unfinishedCopyName))).toBe(false);
  });

  it("is refused while a node may come back that has no session, and goes on when it was stopped or is gone", async () => {
    const [stateDir, url] = [await filledState(), await emptyDatabase()];
    await toPostgres(stateDir, url);
    moveDatabaseAway(stateDir);
    const now = "(extract(epoch from clock_timestamp()) * 1000)::bigint";
    await askPostgres(
      url,
      `update nodes set is_stopped = 0, seen_at = 0; update nodes set seen_at = ${now} where name like '4%'`,
    );
    await expect(toSqlite(stateDir, url)).rejects.toThrow(/nodes that were not stopped.*\(4/);
    await askPostgres(url, "update nodes set is_stopped = 1");
    expect(await toSqlite(stateDir, url)).toMatchObject({ isComplete: true });
  });

  it("lets nobody write to the source meanwhile", async () => {
    const [stateDir, url] = [await filledState(), await emptyDatabase()];
    const sqlite = openSqliteSource(stateDir);
    const beside = new BetterSqlite(join(stateDir, databaseFileName), { timeout: 0 });
    onTestFinished(() => void beside.close());
    expect(() => beside.exec("delete from audit")).toThrow(/locked/);
    await sqlite.close();
    beside.exec("delete from audit");
    await toPostgres(stateDir, url);

    const postgres = await openPostgresSource(
      url,
      readFileSync(join(stateDir, markerFileName), "utf8").trim(),
    );
    const locking = `set lock_timeout = 100; select 1 from lanes for update`;
    await expect(askPostgres(url, locking)).rejects.toThrow(/lock timeout/);
    await postgres.requireUnused();
    const late = await CopySession.connect(url);
    await expect(postgres.requireUnused()).rejects.toThrow(/1 session/);
    await late.close();
    await postgres.close();
    await askPostgres(url, locking);
  });
});
