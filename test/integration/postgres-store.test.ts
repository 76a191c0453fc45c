/** What only PostgreSQL does otherwise, on a real server; that all else is alike, `DROPGATE_TEST_STORE=postgres` shows. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import BetterSqlite from "better-sqlite3";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { insertCompany, listCompanies, readCompany } from "../../src/store/accounts/companies.ts";
import type * as database from "../../src/store/database/database.ts";
import {
  databaseFileName,
  openExistingStore,
  openStore,
  type Store,
} from "../../src/store/database/database.ts";
import { currentSchema } from "../../src/store/database/schema-plan.ts";
import { forEach } from "../../src/store/database/groups/side-by-side.ts";
import { rememberAnswers } from "../../src/store/database/version-cache.ts";
import { insertRecordedEvent, listEvents } from "../../src/store/stops/recorded-events.ts";
import {
  askPostgres as ask,
  hasPostgres,
  type PostgresServer,
  startPostgres,
} from "../support/postgres-server.ts";
import { cutAtCommit } from "../support/cut-at-commit.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const databaseModule = "../../src/store/database/database.ts";

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
  return await server.makeDatabase(`db_${databases}`);
}

interface Opened {
  readonly store: Store;
  readonly url: string;
  readonly stateDir: string;
}

async function open(checks: "0" | "1" = "1"): Promise<Opened> {
  vi.stubEnv("DROPGATE_CHECK_UNITS", checks);
  onTestFinished(() => void vi.unstubAllEnvs());
  const [url, stateDir] = [await emptyDatabase(), temporaryFolder()];
  const store = await openStore(stateDir, { url });
  onTestFinished(() => store.close());
  return { store, url, stateDir };
}

async function addCompany(store: Store, code = "ACME"): Promise<number> {
  return (await store.write("site", (tx) => insertCompany(tx, { code, createdAt: 1 }))).company.id;
}

describe.runIf(hasPostgres)("a database of PostgreSQL", () => {
  it("has the tables and columns of SQLite, with bigint, double precision and texts in the order of their bytes", async () => {
    const { url } = await open("0");
    // The one of the program, whatever the stores of this run are.
    const { openStore: openFile } = await vi.importActual<typeof database>(databaseModule);
    const folder = temporaryFolder();
    await (await openFile(folder)).close();
    const sqlite = new BetterSqlite(join(folder, databaseFileName), { readonly: true });
    const kinds: Readonly<Record<string, string>> = {
      integer: "bigint -",
      bigint: "bigint -",
      text: "text C",
      real: "double precision -",
    };
    const wanted = sqlite
      .prepare<[], { readonly name: string; readonly type: string }>(
        `select m.name || '.' || c.name as name, lower(c.type) as type from sqlite_schema m, pragma_table_info(m.name) c
         where m.type = 'table' and m.name not like 'sqlite%' and m.name <> 'ledger_gaps'`,
      )
      .all()
      .map(({ name, type }) => `${name} ${kinds[type]}`);
    sqlite.close();
    const found = await ask(
      url,
      `select table_name || '.' || column_name || ' ' || data_type || ' ' || coalesce(collation_name, '-')
       from information_schema.columns join information_schema.tables using (table_name, table_schema)
       where table_schema = 'public' and table_type = 'BASE TABLE' and column_name <> 'rowid' and table_name <> 'entered_files'`,
    );
    expect(found.map(([name]) => name).toSorted()).toEqual(wanted.toSorted());
  });

  it("has keys that begin with the company in each table that has one", async () => {
    const { url } = await open("0");
    const keys = await ask(
      url,
      `select distinct c.relname from pg_constraint k join pg_class c on c.oid = k.conrelid
       join pg_attribute a on a.attrelid = c.oid and a.attname = 'company_id' and a.attnotnull
       where k.contype in ('p', 'u') and k.conkey[1] <> a.attnum`,
    );
    expect(keys).toEqual([]);
  });

  it("is migrated by one of several that open it at the same moment", async () => {
    const url = await emptyDatabase();
    const done: string[] = [];
    const log = { info: (_: object, text: string) => void done.push(text) };
    const stores = await Promise.all(
      [1, 2, 3].map(() => openStore(temporaryFolder(), { url, log: log as never })),
    );
    for (const store of stores) await store.close();
    // The tables of schema 21, and each migration after it.
    expect(done).toHaveLength(currentSchema - 20);
  });

  it("is refused when its schema is newer, is changed by hand, or it has tables of others", async () => {
    const { url, stateDir, store } = await open("0");
    await store.close();
    await ask(url, "alter table stops add column colour text");
    await expect(openStore(stateDir, { url })).rejects.toThrow(/not those of that schema/);
    await ask(url, "update meta set value = '9999' where key in ('schema', 'oldest_schema')");
    await expect(openStore(stateDir, { url })).rejects.toThrow(/schema 9999, this dropgate knows/);
    const other = await emptyDatabase();
    await ask(other, "create table invoices (id bigint)");
    await expect(openStore(temporaryFolder(), { url: other })).rejects.toThrow(
      /tables that are not dropgate's/,
    );
  });

  it("is refused when it is not that of the state directory", async () => {
    const [one, other] = [await open("0"), await open("0")];
    await expect(openStore(one.stateDir, { url: other.url })).rejects.toThrow(
      /not the one of this state directory/,
    );
    await expect(openStore(one.stateDir, { url: await emptyDatabase() })).rejects.toThrow(
      /is empty, although/,
    );
    await expect(openExistingStore(temporaryFolder(), { url: one.url })).rejects.toThrow(
      /there is no state in/,
    );
  });

  it("is refused when its commits may be lost or its texts changed", async () => {
    const unsafe = await emptyDatabase();
    const name = unsafe.split("/").at(-1);
    await ask(unsafe, `alter database ${name} set synchronous_commit = off`);
    await expect(openStore(temporaryFolder(), { url: unsafe })).rejects.toThrow(/synchronous_commit is off/);
    await ask(unsafe, "create database latin encoding 'LATIN1' locale 'C' template template0");
    await expect(openStore(temporaryFolder(), { url: server.urlOf("latin") })).rejects.toThrow(
      /LATIN1 instead of UTF8/,
    );
  });
});

describe.runIf(hasPostgres)("a server of the tests", () => {
  it("ends with the run that has started it, also when that is killed, and leaves no folder", async () => {
    const support = join(import.meta.dirname, "../support/postgres-server.ts");
    const script = `import { startPostgres } from ${JSON.stringify(support)};
      console.log((await startPostgres()).urlOf("postgres")); setInterval(() => undefined, 1_000);`;
    const run = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(run.stdout, "data")) as [Buffer];
    const url = line.toString().trim();
    const [[data] = []] = await ask(url, "show data_directory");
    run.kill("SIGKILL");
    await expect.poll(() => existsSync(dirname(String(data)))).toBe(false);
    await expect(ask(url, "select 1")).rejects.toThrow(/ECONNREFUSED/);
  });
});

describe.runIf(hasPostgres)("values in PostgreSQL", () => {
  it("come back as they were: positions in all digits, times as numbers, texts by their bytes", async () => {
    const { store } = await open();
    const ids = [await addCompany(store, "b"), await addCompany(store, "C"), await addCompany(store, "ä")];
    expect(ids).toEqual([1, 2, 3]);
    const { rows } = await sql`select cast(40.7127837 as double precision) as latitude, max(created_at) as at,
      sum(created_at) as sum, count(*) > 2 as many from companies`.execute(store.read);
    expect(rows).toEqual([{ latitude: 40.7127837, at: 1, sum: 3, many: 1 }]);
    const codes = await store.read.selectFrom("companies").select("code").orderBy("code").execute();
    expect(codes.map(({ code }) => code)).toEqual(["C", "b", "ä"]);
  });

  it("come back as they were from statements that many run at the same moment", async () => {
    const { store } = await open();
    const companyId = await addCompany(store);
    const texts = [
      "",
      "NULL",
      'a "quoted" text',
      "C:\\folder\\",
      "{one,two}",
      "'",
      "é 漢 🚚",
      "two\nlines\t",
      "$1",
    ];
    const event = (data: string, index: number) => ({
      ...{ companyId, stopNbr: index % 2 === 0 ? null : data, loadNbr: null, code: index, data },
      recordedAt: 1_700_000_000_000 + index,
    });
    // The first time the server is asked for the types of the statement.
    for (let time = 0; time < 2; time += 1)
      await store.write(companyId, (tx) =>
        forEach(tx, texts.map(event), (record) => insertRecordedEvent(tx, record)),
      );
    const found = await listEvents(store.read, { companyId, limit: 100 });
    const wanted = [...texts, ...texts].map((text, index) => event(text, index % texts.length));
    expect(found.map(({ id, ...rest }) => ({ ...rest, companyId }))).toEqual(wanted);
  });

  it("are refused when no number of the program has all of their digits", async () => {
    const { store } = await open();
    await expect(sql`select 9007199254740993 as n`.execute(store.read)).rejects.toThrow(
      /9007199254740993 is no number/,
    );
  });

  it("are refused with the character NUL, and the unit writes nothing", async () => {
    const { store } = await open();
    const adding = store.write("site", (tx) => insertCompany(tx, { code: "A\u0000B", createdAt: 1 }));
    await expect(adding).rejects.toMatchObject({ kind: "refused", message: /NUL \(U\+0000\)/ });
    expect(await listCompanies(store.read)).toEqual([]);
  });
});

describe.runIf(hasPostgres)("an answer that is shared", () => {
  it("is that of those who ask before it is sent, and asked anew by those who come later", async () => {
    const { store } = await open();
    let asked = 0;
    const count = rememberAnswers(async (db) => {
      asked += 1;
      return (await listCompanies(db)).length;
    });
    expect(await Promise.all([count(store.read, ""), count(store.read, "")])).toEqual([0, 0]);
    expect(asked).toBe(1);
    const early = count(store.read, "");
    // It is sent, and not answered.
    await setImmediate();
    await addCompany(store);
    expect(await count(store.read, "")).toBe(1);
    await early;
    expect(asked).toBe(3);
  });
});

describe.runIf(hasPostgres)("a table that was changed by another node", () => {
  it("is read and written by statements that were prepared before", async () => {
    const { store, url } = await open("0");
    const id = await addCompany(store);
    const [read, written] = [
      () => readCompany(store.read, id),
      () => store.write(id, (tx) => readCompany(tx, id)),
    ];
    expect([await read(), await written()]).toMatchObject([{ code: "ACME" }, { code: "ACME" }]);
    await ask(url, "alter table companies add column motto text");
    expect([await read(), await written()]).toMatchObject([{ code: "ACME" }, { code: "ACME" }]);
  });
});

describe.runIf(hasPostgres)("units of work in PostgreSQL", () => {
  it("of a group fail alone, and the others are committed", async () => {
    const { store } = await open("0");
    const id = await addCompany(store);
    const refused = store.write(id, async (tx) => {
      await sql`insert into export_schedules (company_id, name, schedule, watermark) values (${id}, 'late', '', 0)`.execute(
        tx,
      );
      throw new Error("refused");
    });
    const named = ["one", "two"].map((name) =>
      store.write(id, (tx) =>
        tx
          .insertInto("message_plans")
          .values({ company_id: id, plan: name })
          .onConflict((c) => c.doNothing())
          .execute(),
      ),
    );
    await expect(refused).rejects.toThrow("refused");
    await Promise.all(named);
    expect(await store.read.selectFrom("message_plans").select("plan").execute()).toEqual([{ plan: "one" }]);
    expect(await store.read.selectFrom("export_schedules").selectAll().execute()).toEqual([]);
  });

  it("that come while a group is undone and runs again run after all of its units", async () => {
    const { store } = await open("0");
    const id = await addCompany(store);
    const ends: string[] = [];
    const note = (name: string) => store.write(id, async () => void ends.push(name));
    const begun: Promise<unknown>[] = [];
    const fail = async () => {
      if (begun.length === 0) begun.push(note("later"));
      throw new Error("refused");
    };
    const outcomes = await Promise.allSettled([note("first"), store.write(id, fail), note("last")]);
    await Promise.all(begun);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    // The first has run in the group too, which was undone.
    expect(ends).toEqual(["first", "first", "last", "later"]);
  });

  it("are not answered as committed when a failed statement was ignored", async () => {
    const { store } = await open("0");
    const ignoring = store.write("site", async (tx) => {
      await insertCompany(tx, { code: "ACME", createdAt: 1 });
      await sql`select 1 / 0`.execute(tx).catch(() => undefined);
    });
    await expect(ignoring).rejects.toThrow(/nothing was committed/);
    expect(await listCompanies(store.read)).toEqual([]);
    await addCompany(store);
    expect(await listCompanies(store.read)).toHaveLength(1);
  });

  it("go on in a new session after the server has ended the old one", async () => {
    const { store, url } = await open("0");
    await addCompany(store);
    await store.read.selectFrom("companies").select("id").execute();
    await ask(
      url,
      "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()",
    );
    await expect.poll(() => addCompany(store, "OTHER").catch(() => undefined)).toBe(2);
    await expect
      .poll(() =>
        listCompanies(store.read).then(
          (all) => all.length,
          () => 0,
        ),
      )
      .toBe(2);
  });

  it("go on in a new session when the server of the old one has stopped writing, as after a failover", async () => {
    const { store } = await open("0");
    const readOnly = sql`set session characteristics as transaction read only`;
    await store.write("site", (tx) => readOnly.execute(tx));
    await expect(addCompany(store)).rejects.toMatchObject({ kind: "unavailable" });
    expect(await addCompany(store)).toBeGreaterThan(0);
  });

  it("are lost as a whole when the server ends their session", async () => {
    const { store, url } = await open("0");
    const lost = store.write("site", async (tx) => {
      await insertCompany(tx, { code: "ACME", createdAt: 1 });
      await ask(
        url,
        "select pg_terminate_backend(pid) from pg_stat_activity where state = 'idle in transaction' and datname = current_database()",
      );
      await insertCompany(tx, { code: "OTHER", createdAt: 1 });
    });
    await expect(lost).rejects.toMatchObject({ kind: "unavailable" });
    await expect.poll(() => listCompanies(store.read).catch(() => undefined)).toEqual([]);
  });

  it.each([
    ["are done once, and said to be done, when the answer of their commit is lost", "answer", 1],
    ["are undone, and said to have failed, when their commit never arrives", "commit", 0],
  ] as const)("%s", async (_, lost, count) => {
    const url = await emptyDatabase();
    const cutter = await cutAtCommit(Number(new URL(url).port));
    onTestFinished(() => cutter.end());
    const through = new URL(url);
    through.port = String(cutter.port);
    vi.stubEnv("DROPGATE_CHECK_UNITS", "0");
    onTestFinished(() => void vi.unstubAllEnvs());
    const store = await openStore(temporaryFolder(), { url: through.href });
    onTestFinished(() => store.close());
    cutter.loseOnce(lost);
    const added = addCompany(store);
    if (lost === "answer") expect(await added).toBe(1);
    else await expect(added).rejects.toMatchObject({ kind: "unavailable" });
    expect(cutter.hasLost()).toBe(true);
    expect(await ask(url, "select code from companies")).toHaveLength(count);
    await expect.poll(() => addCompany(store, "OTHER").catch(() => 0)).toBeGreaterThan(0);
  });

  it("are held to their company, and their ids are given again after the rehearsal", async () => {
    const { store } = await open();
    const [one, other] = [await addCompany(store, "ONE"), await addCompany(store, "TWO")];
    const straying = store.write(one, (tx) =>
      tx.insertInto("message_plans").values({ company_id: other, plan: "" }).execute(),
    );
    await expect(straying).rejects.toThrow(/writes message_plans of another company than its own/);
    expect([one, other]).toEqual([1, 2]);
  });
});
