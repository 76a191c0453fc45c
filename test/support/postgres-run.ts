/**
 * With `DROPGATE_TEST_STORE=postgres` in the environment, what vitest does before all tests: a server for all of them, with the
 * migrated database from which each store is copied (`stores-on-postgres.ts`).
 */
import { startPostgres } from "./postgres-server.ts";
import { serverVariable } from "./store-url.ts";

/** Gives what vitest does after all tests. */
export default async function setup(): Promise<() => void> {
  const server = await startPostgres();
  process.env[serverVariable] = server.urlOf("").slice(0, -1);
  return server.stop;
}
