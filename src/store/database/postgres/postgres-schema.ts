/** The tables, columns and indexes of a database of PostgreSQL, as a whole. */
import { unfinishedCopyKey } from "../copy/copied-tables.ts";
import { fingerprintOf } from "../sqlite-schema.ts";
import { neededSchema } from "./program-locks.ts";
import type { PostgresSession } from "./postgres-session.ts";

/** Not by the server's own texts of definitions: another version of it may write them otherwise. */
const partsOfSchema = `
select 'column ' || c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
  || case when a.attnotnull then ' not null' else '' end
  || coalesce(' collate ' || l.collname, '') || ' ' || a.attidentity::text as part
from pg_class c
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
left join pg_collation l on l.oid = a.attcollation and c.relkind = 'r'
where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'v', 'p') and c.relname <> 'meta'
union all
select 'index ' || i.relname || ' of ' || t.relname || case when x.indisunique then ' unique' else '' end
  || ' ' || x.indnatts || case when x.indpred is null then '' else ' partial' end
from pg_index x
join pg_class i on i.oid = x.indexrelid
join pg_class t on t.oid = x.indrelid
where t.relnamespace = current_schema()::regnamespace and t.relname <> 'meta'`;

export interface FoundPostgres {
  /** As the database has noted it; 0 when it has not. */
  readonly number: number;
  /** The schema of the oldest programs that may use it, or of which a migration waits for the others to go. */
  readonly needed: number;
  /** As the database has noted it. */
  readonly notedFingerprint: string | undefined;
  /** As the database has noted it. */
  readonly instanceId: string | undefined;
  /** Of the actual schema. */
  readonly fingerprint: string;
  /** No table but `meta`. */
  readonly isEmpty: boolean;
  /** A copy of a state to it was not finished. */
  readonly isUnfinishedCopy: boolean;
}

async function readNeeded(session: PostgresSession): Promise<number> {
  const { rows } = await session.query({ text: `select ${neededSchema} as needed`, values: [] });
  return Number(rows[0]?.["needed"]);
}

function textOf(value: unknown): string | undefined {
  return value === undefined ? undefined : String(value);
}

async function readMeta(session: PostgresSession): Promise<ReadonlyMap<unknown, unknown>> {
  const there = await session.query({ text: "select to_regclass('meta')::text as name", values: [] });
  if (there.rows[0]?.["name"] === null) return new Map();
  const { rows } = await session.query({ text: "select key, value from meta", values: [] });
  return new Map(rows.map(({ key, value }) => [key, value]));
}

/** The schema that the database has, and what it says of it. */
export async function findPostgres(session: PostgresSession): Promise<FoundPostgres> {
  const meta = await readMeta(session);
  const { rows } = await session.query({ text: partsOfSchema, values: [] });
  const parts = rows.map(({ part }) => String(part)).toSorted();
  return {
    number: Number(meta.get("schema") ?? 0),
    needed: meta.size === 0 ? 0 : await readNeeded(session),
    notedFingerprint: textOf(meta.get("fingerprint")),
    instanceId: textOf(meta.get("instance")),
    fingerprint: fingerprintOf(new Map(parts.map((part) => [part, ""]))),
    isEmpty: parts.length === 0,
    isUnfinishedCopy: meta.has(unfinishedCopyKey),
  };
}
