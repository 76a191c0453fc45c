import { cpSync, mkdirSync } from "node:fs";
import { openStore, type Store } from "../../src/store/database/database.ts";
import { onceInRun } from "./run-folder.ts";
import { isOnPostgres } from "./store-dialect.ts";

/** A new store in the folder. The migrations make one in a run of the tests, which is copied: they take longer than most tests. */
export async function openFreshStore(folder: string): Promise<Store> {
  // There the databases are copies of one that was migrated.
  if (isOnPostgres) {
    mkdirSync(folder, { recursive: true });
    return await openStore(folder);
  }
  const migrated = await onceInRun("store", async (own) => {
    const store = await openStore(own);
    await store.close();
  });
  cpSync(migrated, folder, { recursive: true, force: false, errorOnExist: true });
  return await openStore(folder);
}
