/** Names in the ledger that differ from a given one in the case of letters alone. */
import { sql } from "kysely";
import type { Reader } from "../database/database.ts";

const maxSpellings = 20;

/** At most 20, in order, of the company or of all. Reads every name: only for a name that is not found as it is. */
export async function listFileSpellings(
  read: Reader,
  key: { readonly companyId?: number; readonly name: string },
): Promise<readonly string[]> {
  let query = read
    .selectFrom("files")
    .select("name")
    .distinct()
    .where(sql<boolean>`lower(name) = ${key.name.toLowerCase()}`)
    .where("name", "!=", key.name);
  if (key.companyId !== undefined) query = query.where("company_id", "=", key.companyId);
  const rows = await query.orderBy("name").limit(maxSpellings).execute();
  return rows.map(({ name }) => name);
}
