/** Looks at the database of a state directory without changing it: no migration, no new file. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Kysely } from "kysely";
import { type Company, listCompanies } from "./companies.ts";
import { databaseFileName, markerFileName, readMarker } from "./database.ts";
import { listOutboundTargets, type OutboundTarget } from "./outbound-targets.ts";
import type { Tables } from "./schema.ts";
import { describeSqlite, openSqlite, sqliteDialect } from "./sqlite-dialect.ts";

export type StoreInspection =
  | { readonly kind: "absent" /** The marker says that there was one. */; readonly isMissing: boolean }
  | {
      readonly kind: "present";
      readonly sqliteVersion: string;
      /** The number of the schema, 0 for none. */
      readonly schema: number;
      readonly instanceId: string | undefined;
      readonly marker: string | undefined;
      readonly companies: readonly Company[];
      readonly targets: readonly OutboundTarget[];
    };

async function metaOf(db: Kysely<Tables>): Promise<ReadonlyMap<string, string>> {
  const rows = await db.selectFrom("meta").selectAll().execute();
  return new Map(rows.map((row) => [row.key, row.value]));
}

/** Rejects when the file is no usable database, SQLite is too old, or the pragmas do not hold. */
export async function inspectStore(stateDir: string): Promise<StoreInspection> {
  const path = join(stateDir, databaseFileName);
  const marker = readMarker(join(stateDir, markerFileName));
  if (!existsSync(path)) return { kind: "absent", isMissing: marker !== undefined };
  const database = openSqlite(path, { isNew: false });
  try {
    const db = new Kysely<Tables>({ dialect: sqliteDialect(database) });
    // A start that was cut off before the first migration leaves a database without tables.
    const { version, hasTables } = describeSqlite(database);
    const meta = hasTables ? await metaOf(db) : new Map<string, string>();
    return {
      kind: "present",
      sqliteVersion: version,
      schema: Number(meta.get("schema") ?? 0),
      instanceId: meta.get("instance"),
      marker,
      companies: hasTables ? await listCompanies(db) : [],
      targets: hasTables ? await listOutboundTargets(db) : [],
    };
  } finally {
    database.close();
  }
}
