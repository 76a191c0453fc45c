/** Where the store of a state directory lies that a test of one process opens, in a run on PostgreSQL. */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { psql } from "./postgres-programs.ts";
import { isOnPostgres } from "./store-dialect.ts";

/** The address of the server of the run, without a database. */
export const serverVariable = "DROPGATE_TEST_POSTGRES";
/** A database that has been migrated and is otherwise empty. */
export const templateName = "dropgate_template";

export const addressOf = (database: string) => `${process.env[serverVariable]}/${database}`;

const made = new Set<string>();

/** The address of the database of a state directory, which is made when it is asked for first; undefined for a file. */
export function storeUrlOf(stateDir: string): string | undefined {
  if (!isOnPostgres) return undefined;
  const name = `test_${createHash("sha256").update(stateDir).digest("hex").slice(0, 24)}`;
  if (!made.has(name)) psql(addressOf("postgres"), `create database ${name} template ${templateName}`);
  made.add(name);
  return addressOf(name);
}

/** What a configuration in the folder says of that database, for programs of their own. */
export function storeSettingsOf(stateDir: string, folder: string): { readonly store?: string } {
  const url = storeUrlOf(stateDir);
  if (url === undefined) return {};
  writeFileSync(join(folder, "postgres-url"), `${url}\n`, { mode: 0o600 });
  return { store: "file:postgres-url" };
}

/** Removes those that this process has made. */
export function removeDatabases(): void {
  for (const name of made) psql(addressOf("postgres"), `drop database if exists ${name} with (force)`);
  made.clear();
}
