/** The server of PostgreSQL that a run of tests has for all of them (`postgres-run.ts`). */
import { askPostgres } from "./postgres-server.ts";

/** The address of the server without a database. */
export const serverVariable = "DROPGATE_TEST_POSTGRES";
/** A database that has been migrated and is otherwise empty. */
export const templateName = "dropgate_template";

export const addressOf = (database: string) => `${process.env[serverVariable]}/${database}`;

/** Runs one statement in the database that every server has. */
export async function administer(statement: string): Promise<void> {
  await askPostgres(addressOf("postgres"), statement);
}

/** Makes a database as a copy of one that nobody uses; gives its address. */
export async function copyDatabase(name: string, template: string): Promise<string> {
  await administer(`create database ${name} template ${template}`);
  return addressOf(name);
}

export async function dropDatabase(name: string): Promise<void> {
  await administer(`drop database if exists ${name} with (force)`);
}
