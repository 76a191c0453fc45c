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
  /** When it was refused, milliseconds UTC. */
  readonly decidedAt: number;
  readonly faults: readonly Fault[];
}

/** The first or the last of them, from that end on. */
export async function listRefused(
  read: Reader,
  { limit, from, ...wanted }: RefusedSince & { readonly limit: number; readonly from: "first" | "last" },
): Promise<readonly RefusedFile[]> {
  const rows = await refused(read, wanted)
    .select(["name", "reasons", "decided_at as decidedAt"])
    .orderBy("decided_at", from === "first" ? "asc" : "desc")
    .limit(limit)
    .execute();
  return rows.map(({ reasons, decidedAt, ...row }) => ({
    ...{ ...row, decidedAt: decidedAt ?? 0 },
    faults: JSON.parse(reasons) as readonly Fault[],
  }));
}
