/** How a database says of which schema programs have to be that use it, and which ones write it. */
import { wishLock } from "./advisory-locks.ts";

/** Those of this kind that are held in this database; `objid` is the schema. */
export function locksOf(kind: number): string {
  return `pg_locks l where l.locktype = 'advisory' and l.granted and l.classid = ${kind} and l.objsubid = 2
    and l.database = (select oid from pg_database where datname = current_database())`;
}

/** In `meta`: the schema of the oldest programs that may use the database. */
export const oldestKey = "oldest_schema";

/** The highest schema that a migration wishes, or the note of one asks, for: 0 when none does. */
export const neededSchema = `greatest(
  coalesce((select value::bigint from meta where key = '${oldestKey}'), 0),
  coalesce((select max(l.objid::bigint) from ${locksOf(wishLock)}), 0))`;

/** A database that this program must not write. */
export function tooOldText(schema: number, needed: number): string {
  return (
    `this dropgate (schema ${schema}) is too old for the database, which is for schema ${needed} and newer: install the ` +
    "version that the other nodes have, and start it"
  );
}
