import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { insertCompany } from "./companies.ts";
import { databaseFileName, openStore } from "./database.ts";
import { rememberAnswers } from "./version-cache.ts";

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

it("an answer is remembered until something is committed", async () => {
  const { store, count, asked } = await opened();
  expect(await count(store.read, "")).toBe(0);
  expect(await count(store.read, "")).toBe(0);
  expect(asked()).toBe(1);
  await store.write((tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }));
  expect(await count(store.read, "")).toBe(1);
  expect(asked()).toBe(2);
});

it("a commit of another process makes it old too", async () => {
  const { folder, store, count } = await opened();
  expect(await count(store.read, "")).toBe(0);
  const script = `const db = require("better-sqlite3")(process.argv[1]);
    db.prepare("insert into companies (code, code_key, created_at) values ('B', 'b', 1)").run();`;
  execFileSync(process.execPath, ["-e", script, join(folder, databaseFileName)], {
    cwd: join(import.meta.dirname, "../.."),
  });
  expect(await count(store.read, "")).toBe(1);
});

it("within a transaction it is asked each time", async () => {
  const { store, count, asked } = await opened();
  await store.write(async (tx) => {
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
