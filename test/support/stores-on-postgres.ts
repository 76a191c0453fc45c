/**
 * Has all tests open their stores on the server of the run: each state directory has a database of its own, which is gone
 * after the file of tests.
 */
import { createHash } from "node:crypto";
import { afterAll, vi } from "vitest";
import type * as database from "../../src/store/database/database.ts";
import { copyDatabase, dropDatabase, templateName } from "./run-server.ts";

const databases = new Map<string, Promise<string>>();

/** The address of the database of a state directory. */
function urlOf(stateDir: string): Promise<string> {
  const name = `test_${createHash("sha256").update(stateDir).digest("hex").slice(0, 24)}`;
  const known = databases.get(name) ?? copyDatabase(name, templateName);
  databases.set(name, known);
  return known;
}

vi.mock("../../src/store/database/database.ts", async (original) => {
  const real = await original<typeof database>();
  const { openStore, openExistingStore } = real;
  return {
    ...real,
    openStore: async (stateDir: string, options: database.OpenOptions = {}) =>
      await openStore(stateDir, { ...options, url: options.url ?? (await urlOf(stateDir)) }),
    openExistingStore: async (stateDir: string, options: database.OpenOptions = {}) =>
      await openExistingStore(stateDir, { ...options, url: options.url ?? (await urlOf(stateDir)) }),
  } satisfies typeof database;
});

afterAll(async () => {
  for (const name of databases.keys()) await dropDatabase(name);
});
