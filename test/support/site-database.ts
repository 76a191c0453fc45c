/**
 * The database of a site. In a run on PostgreSQL it is one of the server of the run, and its address stands in a file beside
 * the configuration, which names that; else it is the SQLite file of the state directory.
 */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import BetterSqlite from "better-sqlite3";
import { psql } from "./postgres-programs.ts";
import { isOnPostgres } from "./store-dialect.ts";
import { addressOf } from "./store-url.ts";

/** Where the configuration of a site on PostgreSQL has the address of its database. */
export const storeReference = "file:postgres-url";

/** What the configuration of each site of this run has. */
export const storeSettings = isOnPostgres ? { store: storeReference } : {};

const fileIn = (folder: string) => join(folder, "postgres-url");

/** The address of the database of a site in the folder, where that is on PostgreSQL. */
export function databaseUrlIn(folder: string): string | undefined {
  return existsSync(fileIn(folder)) ? readFileSync(fileIn(folder), "utf8").trim() : undefined;
}

/** The next start of the site in the folder uses that database. */
export async function nameDatabase(folder: string, url: string): Promise<void> {
  await writeFile(fileIn(folder), `${url}\n`, { mode: 0o600 });
}

function nameIn(folder: string): string {
  const url = databaseUrlIn(folder);
  if (url === undefined) throw new Error(`${fileIn(folder)} is missing`);
  return new URL(url).pathname.slice(1);
}

/** Names a new database for a site in the folder: a copy of the one that is named in the other folder, else an empty one. */
export async function plantDatabase(folder: string, from?: string): Promise<void> {
  if (!isOnPostgres) return;
  const { askPostgres } = await import("./postgres-server.ts");
  const name = `site_${randomBytes(8).toString("hex")}`;
  const template = from === undefined ? "template0" : nameIn(from);
  await askPostgres(addressOf("postgres"), `create database ${name} template ${template}`);
  await nameDatabase(folder, addressOf(name));
}

/** Removes the database that `plantDatabase` has made. */
export async function removeDatabase(folder: string): Promise<void> {
  if (!isOnPostgres || !existsSync(fileIn(folder))) return;
  const { askPostgres } = await import("./postgres-server.ts");
  await askPostgres(addressOf("postgres"), `drop database if exists ${nameIn(folder)} with (force)`);
}

type Value = string | number;

/** A folder with a configuration, and the state that this names. */
export interface SitePlace {
  readonly folder: string;
  readonly stateDir: string;
}

/** A statement of both databases, with its values in the place of each `?`. */
function filledIn(sql: string, values: readonly Value[]): string {
  const rest = [...values];
  return sql.replaceAll("?", () => {
    const value = rest.shift();
    if (value === undefined) throw new Error(`too few values for ${sql}`);
    return typeof value === "number" ? String(value) : `'${value.replaceAll("'", "''")}'`;
  });
}

function withSqlite<T>({ stateDir }: SitePlace, work: (database: BetterSqlite.Database) => T): T {
  const database = new BetterSqlite(join(stateDir, "dropgate.db"), { fileMustExist: true });
  try {
    return work(database);
  } finally {
    database.close();
  }
}

/** The rows that a query finds in the database of the site, beside its daemon. */
export function rowsOf<Row>(site: SitePlace, sql: string, ...values: readonly Value[]): readonly Row[] {
  const url = databaseUrlIn(site.folder);
  if (url === undefined)
    return withSqlite(site, (database) => database.prepare<Value[], Row>(sql).all(...values));
  const query = filledIn(sql, values);
  return JSON.parse(psql(url, `select coalesce(json_agg(found), '[]') from (${query}) found`)) as Row[];
}

/** While its daemon does not run: bans and what led to them outlast that on PostgreSQL, and nowhere else. */
export function forgetFailedSignIns(site: SitePlace): void {
  if (!isOnPostgres) return;
  for (const table of ["sign_in_bans", "sign_in_faults"]) changeRows(site, `delete from ${table}`);
}

/** Changes rows in the database of the site behind its back, and says how many. */
export function changeRows(site: SitePlace, sql: string, ...values: readonly Value[]): number {
  const url = databaseUrlIn(site.folder);
  if (url === undefined) return withSqlite(site, (database) => database.prepare(sql).run(...values).changes);
  return Number(/(\d+)$/.exec(psql(url, filledIn(sql, values)))?.[1] ?? 0);
}
