/**
 * With `DROPGATE_TEST_STORE=postgres` in the environment, what vitest does before all tests: a server for all of them, with a
 * migrated database from which each store is copied (`stores-on-postgres.ts`).
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "../../src/store/database/database.ts";
import { askPostgres, startPostgres } from "./postgres-server.ts";

/** The address of the server without a database. */
export const serverVariable = "DROPGATE_TEST_POSTGRES";
export const templateName = "dropgate_template";

/** Runs one statement in the database that every server has. */
export async function administer(statement: string): Promise<void> {
  await askPostgres(`${process.env[serverVariable]}/postgres`, statement);
}

async function makeTemplate(url: string): Promise<void> {
  await administer(`create database ${templateName}`);
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
    await makeTemplate(server.urlOf(templateName));
  } catch (error) {
    server.stop();
    throw error;
  }
  return server.stop;
}
