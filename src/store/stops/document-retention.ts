/** Documents that are old, and those that something still needs, as rows. */
import { type RawBuilder, sql } from "kysely";
import { finalStopStatuses } from "../../domain/stop/stop-status.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/group-commit.ts";
import { namedColumns, type RowOf } from "../database/named-rows.ts";

export interface OldDocument extends Pick<RowOf<"documents">, "guid" | "size" | "createdAt"> {
  readonly id: number;
}

interface Page {
  readonly companyId: number;
  /** Where the page before this one has ended; 0 for the first. */
  readonly afterId: number;
  readonly limit: number;
}

/** Those of a company that came before a time (milliseconds UTC), page by page. */
export async function listOldDocuments(
  read: Reader,
  { companyId, before, afterId, limit }: Page & { readonly before: number },
): Promise<readonly OldDocument[]> {
  const id = sql<number>`documents.rowid`;
  return await read
    .selectFrom("documents")
    .select(namedColumns("guid", "size", "created_at"))
    .select(id.as("id"))
    .where("company_id", "=", companyId)
    .where("created_at", "<", before)
    .where(id, ">", afterId)
    .orderBy(id)
    .limit(limit)
    .execute();
}

/** Removes those that have not come again meanwhile. */
export async function removeDocuments(
  tx: Transaction,
  { companyId, guids, before }: Pick<Page, "companyId"> & { guids: readonly string[]; before: number },
): Promise<void> {
  await tx
    .deleteFrom("documents")
    .where("company_id", "=", companyId)
    .where("guid", "in", guids)
    .where("created_at", "<", before)
    .execute();
}

/** Rows whose JSON may name documents that are needed. */
interface Naming {
  readonly from: RawBuilder<unknown>;
  readonly id: RawBuilder<number>;
  readonly text: RawBuilder<string>;
  readonly where: RawBuilder<boolean>;
}

const final = sql.join(finalStopStatuses.map((status) => sql.lit(status)));

/** What is not over, and completions that take the content of their documents in each time that they are made. */
const namings: readonly Naming[] = [
  {
    from: sql`stops as t`,
    id: sql`t.id`,
    text: sql`t.body || ' ' || t.execution`,
    where: sql`t.stop_status not in (${final})`,
  },
  {
    from: sql`loads as t`,
    id: sql`t.id`,
    text: sql`t.body || ' ' || t.extra || ' ' || t.execution`,
    where: sql`t.load_status not in (90, 99)`,
  },
  {
    from: sql`orders as t left join stops as s on s.company_id = t.company_id and s.stop_nbr = t.order_nbr`,
    id: sql`t.id`,
    text: sql`t.body`,
    where: sql`t.is_cancelled = 0 and (s.id is null or s.stop_status not in (${final}))`,
  },
  {
    from: sql`completions as t`,
    id: sql`t.id`,
    text: sql`t.body || ' ' || t.execution`,
    where: sql`t.embeds_documents = 1`,
  },
  {
    from: sql`recorded_events as t`,
    id: sql`t.id`,
    text: sql`t.data`,
    where: sql`exists (select 1 from completions as c where c.company_id = t.company_id
      and c.stop_nbr = t.stop_nbr and c.embeds_documents = 1)`,
  },
];

export const namingCount = namings.length;

/** What of one kind may name documents, as text. */
export async function listNamingTexts(
  read: Reader,
  naming: number,
  { companyId, afterId, limit }: Page,
): Promise<readonly { readonly id: number; readonly text: string }[]> {
  const found = namings[naming];
  if (found === undefined) return [];
  const { from, id, text, where } = found;
  const query = sql<{ id: number; text: string }>`select ${id} as id, ${text} as text from ${from}
    where t.company_id = ${companyId} and ${id} > ${afterId} and ${where} order by ${id} limit ${limit}`;
  return (await query.execute(read)).rows;
}
