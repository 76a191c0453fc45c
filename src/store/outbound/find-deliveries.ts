/** Deliveries and documents by what people have of them, for the console: by an index, and bounded. */
import { sql } from "kysely";
import { unindexed } from "../database/dialects/sql-forms.ts";
import type { Reader } from "../database/database.ts";
import { type Beginning, beginsWith, findNewestByName } from "../database/searches/name-pattern.ts";
import { namedColumns } from "../database/named-rows.ts";
import { type ListedDelivery, listed, selectDeliveries } from "./delivery-queries.ts";

/** The newest deliveries whose names begin so; `isCut` when there are more. Of very many, some are not looked at. */
export async function findDeliveriesByName(
  read: Reader,
  asked: Beginning,
): Promise<{ readonly deliveries: readonly ListedDelivery[]; readonly isCut: boolean }> {
  const { ids, isCut } = await findNewestByName(read, "deliveries", asked);
  if (ids.length === 0) return { deliveries: [], isCut };
  const rows = await selectDeliveries(read)
    .where("d.id", "in", [...ids])
    .orderBy("d.id", "desc")
    .execute();
  return { deliveries: rows.map(listed), isCut };
}

/** The delivery of that GUID, when it is of one of the companies. */
export async function findDeliveryByGuid(
  read: Reader,
  { companyIds, guid }: { readonly companyIds: readonly number[]; readonly guid: string },
): Promise<ListedDelivery | undefined> {
  const row = await selectDeliveries(read)
    .where("d.guid", "=", guid)
    .where("d.company_id", "in", [...companyIds])
    .executeTakeFirst();
  return row && listed(row);
}

/** Documents of that GUID, or whose content has a SHA-256 that begins so. */
export async function findDocuments(
  read: Reader,
  asked: {
    readonly companyIds: readonly number[];
    readonly guid?: string;
    readonly sha256?: string;
    readonly limit: number;
  },
) {
  const { companyIds, guid, sha256, limit } = asked;
  if (guid === undefined && sha256 === undefined) return [];
  let query = read
    .selectFrom("documents")
    .select(["guid", "name", "sha256", "size"])
    .select(namedColumns("company_id", "created_at"));
  if (guid === undefined)
    query = query.where(sql<boolean>`${unindexed}company_id in (${sql.join([...companyIds])})`);
  else query = query.where("company_id", "in", [...companyIds]).where("guid", "=", guid);
  if (sha256 !== undefined) query = query.where(beginsWith(sql.ref("sha256"), sha256));
  return await query.limit(limit).execute();
}
