import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import BetterSqlite from "better-sqlite3";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { itOnSqlite } from "../../../test/support/store-dialect.ts";
import { databaseFileName, markerFileName, openStore, type Store } from "./database.ts";
import { enterFile, findFile, listOpenFiles } from "../ledger/files.ts";
import { insertCompany } from "../accounts/companies.ts";
import { openSqlite } from "./sqlite-dialect.ts";
import { takeProcessLock } from "./process-lock.ts";

async function open(directory: string): Promise<Store> {
  const store = await openStore(directory);
  onTestFinished(() => store.close());
  return store;
}

const file = (companyId: number, name: string) => ({
  companyId,
  name,
  nameTime: null,
  size: 1,
  channel: "sftp",
  userName: null,
  receivedAt: 1,
  location: `companies/ACME/inbound/${name}`,
});

describe("the store", () => {
  itOnSqlite("makes databases with WAL and incremental vacuum", async () => {
    const directory = temporaryFolder();
    await open(directory);
    const other = new BetterSqlite(join(directory, databaseFileName), { readonly: true });
    expect(other.pragma("journal_mode", { simple: true })).toBe("wal");
    expect(other.pragma("auto_vacuum", { simple: true })).toBe(2);
    other.close();
  });

  it("opens each connection with synchronous=FULL and foreign keys, a new database and one that was there", () => {
    const path = join(temporaryFolder(), databaseFileName);
    for (const isNew of [true, false]) {
      const database = openSqlite(path, { isNew });
      // What a pragma answers before the first statement says nothing.
      database.exec("create table if not exists a (b integer)");
      expect(database.pragma("synchronous", { simple: true })).toBe(2);
      expect(database.pragma("foreign_keys", { simple: true })).toBe(1);
      database.close();
    }
  });

  it("refuses a row that refers to nothing, and the removal of one that is referred to, also when opened again", async () => {
    const directory = temporaryFolder();
    await (await openStore(directory)).close();
    const store = await open(directory);
    await expect(store.write("site", (tx) => enterFile(tx, file(77, "a.xml")))).rejects.toThrow(
      /foreign key/i,
    );
    const { company } = await store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }));
    await store.write("site", (tx) => enterFile(tx, file(company.id, "a.xml")));
    const removed = store.write("site", (tx) =>
      tx.deleteFrom("companies").where("id", "=", company.id).executeTakeFirst(),
    );
    await expect(removed).rejects.toThrow(/foreign key/i);
  });

  itOnSqlite("refuses to start when the database is gone but its marker is there", async () => {
    const directory = temporaryFolder();
    const store = await openStore(directory);
    await store.close();
    rmSync(join(directory, databaseFileName));
    await expect(openStore(directory)).rejects.toThrow("is missing although");
    expect(existsSync(join(directory, databaseFileName))).toBe(false);
  });

  itOnSqlite("names the file that cannot be opened, and who could open it", async () => {
    const directory = temporaryFolder();
    mkdirSync(join(directory, databaseFileName));
    const words = `run dropgate as the user that owns ${directory}`;
    await expect(openStore(directory)).rejects.toThrow(
      `${join(directory, databaseFileName)}: unable to open database file; ${words}`,
    );
    mkdirSync(join(directory, "dropgate.lock"));
    const lock = join(directory, "dropgate.lock");
    expect(() => takeProcessLock(directory)).toThrow(`${lock}: unable to open database file; ${words}`);
  });

  itOnSqlite("names the file that is no database, without a word about users", async () => {
    const path = join(temporaryFolder(), databaseFileName);
    writeFileSync(path, "x".repeat(5_000));
    await expect(openStore(dirname(path))).rejects.toMatchObject({
      message: `${path}: file is not a database`,
    });
  });

  itOnSqlite("refuses a database that is not the one its marker names", async () => {
    const directory = temporaryFolder();
    await (await openStore(directory)).close();
    writeFileSync(join(directory, markerFileName), "another\n");
    await expect(openStore(directory)).rejects.toThrow("not the one that belongs there");
  });

  itOnSqlite("refuses an empty database in the place of a known one", async () => {
    const directory = temporaryFolder();
    await (await openStore(directory)).close();
    for (const suffix of ["", "-wal", "-shm"])
      rmSync(join(directory, databaseFileName + suffix), { force: true });
    writeFileSync(join(directory, databaseFileName), "");
    await expect(openStore(directory)).rejects.toThrow("dropgate.db is empty although");
    const raw = new BetterSqlite(join(directory, databaseFileName));
    expect(raw.prepare("select name from sqlite_schema").all()).toEqual([]);
    raw.close();
  });

  itOnSqlite("does not migrate a database that is not the one its marker names", async () => {
    const directory = temporaryFolder();
    await (await openStore(directory)).close();
    const raw = new BetterSqlite(join(directory, databaseFileName));
    raw.exec("update meta set value = '1' where key = 'schema'");
    writeFileSync(join(directory, markerFileName), "another\n");
    await expect(openStore(directory)).rejects.toThrow("not the one that belongs there");
    expect(raw.prepare("select value from meta where key = 'schema'").pluck().get()).toBe("1");
    raw.close();
  });

  itOnSqlite("refuses a schema that is newer than the code", async () => {
    const directory = temporaryFolder();
    await (await openStore(directory)).close();
    const raw = new BetterSqlite(join(directory, databaseFileName));
    raw.exec("update meta set value = '999' where key = 'schema'");
    raw.close();
    await expect(openStore(directory)).rejects.toThrow("install the newer version again");
  });

  it("shows readers committed units only", async () => {
    const store = await open(temporaryFolder());
    const { company } = await store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }));
    let seenInside: unknown;
    const id = await store.write("site", async (tx) => {
      const entered = await enterFile(tx, file(company.id, "a.xml"));
      seenInside = await findFile(store.read, entered);
      return entered;
    });
    expect(seenInside).toBeUndefined();
    expect((await findFile(store.read, id))?.name).toBe("a.xml");
  });

  it("asks for what is in an empty list, and what is not, in SQL that every database knows", async () => {
    const { read, write } = await open(temporaryFolder());
    await write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }));
    const companies = (operator: "in" | "not in") =>
      read.selectFrom("companies").select("code").where("id", operator, []);
    expect(await companies("in").execute()).toEqual([]);
    expect(await companies("not in").execute()).toEqual([{ code: "ACME" }]);
    for (const operator of ["in", "not in"] as const)
      expect(companies(operator).compile().sql).not.toContain("()");
  });

  it("finds the files that are still to be done by the partial index", async () => {
    const store = await open(temporaryFolder());
    const plan = await store.read.selectFrom("files").select("id").where("is_filed", "=", 0).explain();
    expect(JSON.stringify(plan)).toBeDefined();
    const { company } = await store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }));
    await store.write("site", (tx) => enterFile(tx, file(company.id, "a.xml")));
    const waiting = await listOpenFiles(store.read, { states: ["waiting"], afterId: 0, limit: 10 });
    expect(waiting.map(({ name }) => name)).toEqual(["a.xml"]);
  });
});

describe("units of work", () => {
  itOnSqlite("of one moment share a commit, and one that fails undoes itself alone", async () => {
    const directory = temporaryFolder();
    const store = await open(directory);
    const { company } = await store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }));
    const before = changesOnDisk(directory);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, (_, index) =>
        store.write("site", async (tx) => {
          await enterFile(tx, file(company.id, `${index}.xml`));
          if (index % 10 === 3) throw new Error(`unit ${index} fails`);
        }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === "rejected")).toHaveLength(5);
    const kept = await listOpenFiles(store.read, { states: ["waiting"], afterId: 0, limit: 100 });
    expect(kept).toHaveLength(45);
    expect(kept.some(({ name }) => name === "13.xml")).toBe(false);
    expect(changesOnDisk(directory) - before).toBeLessThan(50);
  });

  it("are refused, not lost, after the store is closed", async () => {
    const store = await openStore(temporaryFolder());
    await store.close();
    await expect(store.write("site", async () => 1)).rejects.toMatchObject({ code: "overloaded" });
  });

  it("run in the order in which they were given", async () => {
    vi.stubEnv("DROPGATE_CHECK_UNITS", "0");
    onTestFinished(() => void vi.unstubAllEnvs());
    const store = await open(temporaryFolder());
    const order: number[] = [];
    await Promise.all(
      Array.from({ length: 600 }, (_, index) =>
        store.write("site", async () => {
          order.push(index);
        }),
      ),
    );
    expect(order).toEqual(Array.from({ length: 600 }, (_, index) => index));
  });
});

/** Frames of the write-ahead log: each commit writes at least one. */
function changesOnDisk(directory: string): number {
  return Math.floor(readFileSync(join(directory, `${databaseFileName}-wal`)).length / 4120);
}

describe("the process lock", () => {
  it("lets one daemon at a state directory and names the one that has it", () => {
    const directory = temporaryFolder();
    const lock = takeProcessLock(directory);
    expect(() => takeProcessLock(directory)).toThrow(`in use by process ${process.pid}`);
    lock.release();
    takeProcessLock(directory).release();
  });
});
