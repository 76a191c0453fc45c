/** Files that were refused lately, for alerts. */
import { sql } from "kysely";
import type { Reader } from "../database/database.ts";
import type { Fault } from "../../lib/errors.ts";

export interface RefusedSince {
  readonly companyId: number;
  /** Decided at this time or later, milliseconds UTC. */
  readonly since: number;
}

/** By the index over refused files, which needs the state as a literal. */
function refused(read: Reader, { companyId, since }: RefusedSince) {
  return read
    .selectFrom("files")
    .where("state", "=", sql.lit("refused" as const))
    .where("company_id", "=", companyId)
    .where("decided_at", ">=", since);
}

/** How many, and when the first of them was decided; null for none. */
export async function countRefused(
  read: Reader,
  wanted: RefusedSince,
): Promise<{ readonly count: number; readonly first: number | null }> {
  return await refused(read, wanted)
    .select((eb) => [eb.fn.countAll<number>().as("count"), eb.fn.min("decided_at").as("first")])
    .executeTakeFirstOrThrow();
}

export interface RefusedFile {
  readonly name: string;
  readonly faults: readonly Fault[];
}

/** The last of them, newest first. */
export async function listRefused(
  read: Reader,
  { limit, ...wanted }: RefusedSince & { readonly limit: number },
): Promise<readonly RefusedFile[]> {
  const rows = await refused(read, wanted)
    .select(["name", "reasons"])
    .orderBy("decided_at", "desc")
    .limit(limit)
    .execute();
  return rows.map(({ name, reasons }) => ({ name, faults: JSON.parse(reasons) as readonly Fault[] }));
}
