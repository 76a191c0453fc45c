import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { itOnSqlite } from "../../../test/support/store-dialect.ts";
import { insertCompany } from "../accounts/companies.ts";
import { databaseFileName, openStore, type Reader } from "./database.ts";
import { openSqlite } from "./sqlite-dialect.ts";
import { createAnswers, rememberAnswers } from "./version-cache.ts";

async function opened() {
  const folder = temporaryFolder();
  const store = await openStore(folder);
  onTestFinished(() => store.close());
  let asked = 0;
  const count = rememberAnswers(async (db) => {
    asked += 1;
    return (await db.selectFrom("companies").selectAll().execute()).length;
  });
  return { folder, store, count, asked: () => asked };
}

itOnSqlite("an answer is remembered until something is committed", async () => {
  const { store, count, asked } = await opened();
  expect(await count(store.read, "")).toBe(0);
  expect(await count(store.read, "")).toBe(0);
  expect(asked()).toBe(1);
  await store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }));
  expect(await count(store.read, "")).toBe(1);
  expect(asked()).toBe(2);
});

itOnSqlite("a commit of another process makes it old too", async () => {
  const { folder, store, count } = await opened();
  expect(await count(store.read, "")).toBe(0);
  const script = `const db = require("better-sqlite3")(process.argv[1]);
    db.prepare("insert into companies (code, code_key, created_at) values ('B', 'b', 1)").run();`;
  execFileSync(process.execPath, ["-e", script, join(folder, databaseFileName)], {
    cwd: join(import.meta.dirname, "../../.."),
  });
  expect(await count(store.read, "")).toBe(1);
});

it("within a transaction it is asked each time", async () => {
  vi.stubEnv("DROPGATE_CHECK_UNITS", "0");
  onTestFinished(() => void vi.unstubAllEnvs());
  const { store, count, asked } = await opened();
  await store.write("site", async (tx) => {
    expect(await count(tx, "")).toBe(0);
    await insertCompany(tx, { code: "ACME", createdAt: 1 });
    expect(await count(tx, "")).toBe(1);
  });
  expect(asked()).toBe(2);
});

it("an answer that failed is asked for again", async () => {
  const { store } = await opened();
  let isBroken = true;
  const fragile = rememberAnswers(async () => {
    if (isBroken) throw new Error("broken");
    return "mended";
  });
  await expect(fragile(store.read, "")).rejects.toThrow("broken");
  isBroken = false;
  expect(await fragile(store.read, "")).toBe("mended");
});

/** A commit of another connection, which is one of another process to SQLite. */
function commitElsewhere(folder: string, code: string): void {
  const other = openSqlite(join(folder, databaseFileName), { isNew: false });
  other.prepare("insert into companies (code, code_key, created_at) values (?, ?, 1)").run(code, code);
  other.close();
}

itOnSqlite("each commit of another process is seen, also between two looks at the same moment", async () => {
  const { folder, store, count } = await opened();
  expect(await count(store.read, "")).toBe(0);
  for (const [index, code] of ["a", "b", "c"].entries()) {
    commitElsewhere(folder, code);
    expect(await Promise.all([count(store.read, ""), count(store.read, "")])).toEqual([index + 1, index + 1]);
  }
});

function keptOf(maxAnswers: number) {
  const answers = createAnswers<string>(maxAnswers);
  const asked: string[] = [];
  const get = async (db: Reader, key: string) =>
    await answers.get(db, key, async () => {
      asked.push(key);
      return key;
    });
  return { get, asked };
}

itOnSqlite("of too many answers the oldest go first, and those that are asked for stay", async () => {
  const { store } = await opened();
  const { get, asked } = keptOf(4);
  for (const key of ["a", "b", "c", "a", "d", "a", "e", "a"]) await get(store.read, key);
  expect(asked).toEqual(["a", "b", "c", "d", "e"]);
  await get(store.read, "b");
  expect(asked.at(-1)).toBe("b");
});

itOnSqlite("who asks the same while it is asked gets the same answer", async () => {
  const { store } = await opened();
  const { get, asked } = keptOf(4);
  expect(await Promise.all([get(store.read, "a"), get(store.read, "a")])).toEqual(["a", "a"]);
  expect(asked).toEqual(["a"]);
});
