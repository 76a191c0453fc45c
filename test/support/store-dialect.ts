/** Which database the stores of this run of tests lie in. */
import { describe, it } from "vitest";

/** With `DROPGATE_TEST_STORE=postgres` in the environment; without, each is a file of SQLite. */
export const isOnPostgres = process.env["DROPGATE_TEST_STORE"] === "postgres";

/** For a test of what only SQLite has: its file, its plans, its answers in the same turn of the event loop. */
export const itOnSqlite = it.skipIf(isOnPostgres);

/** For a group of such tests. */
export const describeOnSqlite = describe.skipIf(isOnPostgres);
