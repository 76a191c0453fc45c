/** The schemas of PostgreSQL that a program knows, each with the step to it. */
import { type Migration, migrations as allMigrations } from "../migrations/migrations.ts";
import { sql as exchange } from "./schema-21-exchange.ts";
import { sql as gateway } from "./schema-21-gateway.ts";

export interface PostgresStep {
  readonly name: string;
  /** Of the schema that it leaves, as its fingerprint. */
  readonly number: number;
  readonly fingerprint: string;
  readonly sql: string;
  /** The schema of the oldest programs that may use the database after it. */
  readonly oldest: number;
}

export interface KnownSchemas {
  readonly steps: readonly PostgresStep[];
  /** The one that the program works with. */
  readonly current: number;
}

const firstSchema = 21;

const meta =
  'create table meta (key text collate "C" not null primary key, value text collate "C" not null);';

const first: PostgresStep = {
  name: `tables of schema ${firstSchema}`,
  number: firstSchema,
  fingerprint: "e007564792df94232536363a0013b578",
  sql: `${meta}${gateway}${exchange}`,
  oldest: firstSchema,
};

/** By a list of migrations; throws where one after schema 21 has no text for PostgreSQL. */
export function knownSchemas(migrations: readonly Migration[]): KnownSchemas {
  const steps = [first];
  let { oldest } = first;
  for (const [index, { name, postgres }] of migrations.slice(firstSchema).entries()) {
    if (postgres === undefined) throw new Error(`the migration "${name}" has no text for PostgreSQL`);
    const { sql, fingerprint } = postgres;
    if (postgres.oldest !== "as before") oldest = Math.max(oldest, postgres.oldest);
    steps.push({ name, number: firstSchema + index + 1, fingerprint, sql, oldest });
  }
  return { steps, current: migrations.length };
}

/** Those that this program knows. */
export const allSchemas = knownSchemas(allMigrations);
