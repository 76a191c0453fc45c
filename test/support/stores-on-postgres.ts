/**
 * Has all tests open their stores on the server of the run: each state directory has a database of its own, which is gone
 * after the file of tests. A store whose address a test or a configuration gives lies there.
 */
import { afterAll, vi } from "vitest";
import type * as storeUrl from "../../src/config/store-url.ts";
import type * as database from "../../src/store/database/database.ts";
import { removeDatabases, storeUrlOf } from "./store-url.ts";

vi.mock("../../src/store/database/database.ts", async (original) => {
  const real = await original<typeof database>();
  const { openStore, openExistingStore } = real;
  return {
    ...real,
    openStore: async (stateDir: string, options: database.OpenOptions = {}) =>
      await openStore(stateDir, { ...options, url: options.url ?? storeUrlOf(stateDir) }),
    openExistingStore: async (stateDir: string, options: database.OpenOptions = {}) =>
      await openExistingStore(stateDir, { ...options, url: options.url ?? storeUrlOf(stateDir) }),
  } satisfies typeof database;
});

vi.mock("../../src/config/store-url.ts", async (original) => {
  const real = await original<typeof storeUrl>();
  return {
    ...real,
    statePlaceOf: (config: Parameters<typeof storeUrl.statePlaceOf>[0]) => {
      const { stateDir, url } = real.statePlaceOf(config);
      return { stateDir, url: url ?? storeUrlOf(stateDir) };
    },
  } satisfies typeof storeUrl;
});

afterAll(removeDatabases);
