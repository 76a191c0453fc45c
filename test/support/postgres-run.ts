/**
 * With `DROPGATE_TEST_STORE=postgres` in the environment, what vitest does before all tests: a server for all of them, with a
 * migrated database from which each store is copied (`stores-on-postgres.ts`).
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "../../src/store/database/database.ts";
import { startPostgres } from "./postgres-server.ts";
import { serverVariable, templateName } from "./store-url.ts";

async function migrate(url: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "dropgate-test-"));
  process.env["DROPGATE_CHECK_UNITS"] = "1";
  const store = await openStore(folder, { url });
  delete process.env["DROPGATE_CHECK_UNITS"];
  await store.write("site", (tx) => tx.deleteFrom("meta").where("key", "=", "instance").execute());
  await store.close();
  rmSync(folder, { recursive: true });
}

/** Gives what vitest does after all tests. */
export default async function setup(): Promise<() => void> {
  const server = await startPostgres();
  process.env[serverVariable] = server.urlOf("").slice(0, -1);
  try {
    await migrate(await server.makeDatabase(templateName));
  } catch (error) {
    server.stop();
    throw error;
  }
  return server.stop;
}
