/** Where the store of a state directory lies that a test of one process opens, in a run on PostgreSQL. */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { psql } from "./postgres-programs.ts";
import { isOnPostgres } from "./store-dialect.ts";

/** The address of the server of the run, without a database. */
export const serverVariable = "DROPGATE_TEST_POSTGRES";
/** A database of each server that has been migrated and is otherwise empty. */
export const migratedName = "dropgate_migrated";

/** The statement that makes a copy of one that nobody has open: of its files, and not by way of the log, which takes longer. */
export const copyOf = (database: string, name: string) =>
  `create database ${name} template ${database} strategy file_copy`;

export const addressOf = (database: string) => `${process.env[serverVariable]}/${database}`;

const made = new Set<string>();

/** The address of the database of a state directory, which is made when it is asked for first; undefined for a file. */
export function storeUrlOf(stateDir: string): string | undefined {
  if (!isOnPostgres) return undefined;
  const name = `test_${createHash("sha256").update(stateDir).digest("hex").slice(0, 24)}`;
  if (!made.has(name)) psql(addressOf("postgres"), copyOf(migratedName, name));
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
export async function removeDatabases(): Promise<void> {
  if (made.size === 0) return;
  const client = new pg.Client({ connectionString: addressOf("postgres") });
  await client.connect();
  for (const name of made) await client.query(`drop database if exists ${name} with (force)`);
  await client.end();
  made.clear();
}
