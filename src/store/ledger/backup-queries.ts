/** What a backup asks of the ledger besides the queries of its verification. */
import type { Reader } from "../database/database.ts";
import { namedColumns, type RowOf } from "../database/named-rows.ts";

type NewerEntry = Pick<RowOf<"files">, "id" | "sha256" | "state" | "source" | "location">;

/** The first entry after that one which was taken from the place; undefined when there is none. */
export async function findEntryFrom(
  read: Reader,
  { source, afterId }: { readonly source: string; readonly afterId: number },
): Promise<NewerEntry | undefined> {
  return await read
    .selectFrom("files")
    .select(namedColumns("id", "sha256", "state", "source", "location"))
    .where("id", ">", afterId)
    .where("source", "=", source)
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
}

/** When the newest entry was received, milliseconds UTC; undefined in an empty ledger. */
export async function findLastReceived(read: Reader): Promise<number | undefined> {
  const row = await read
    .selectFrom("files")
    .select("received_at")
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.received_at;
}

/** Whether a file or folder of that name was delivered for the company. */
export async function wasDelivered(
  read: Reader,
  { companyId, name }: { readonly companyId: number; readonly name: string },
): Promise<boolean> {
  const row = await read
    .selectFrom("deliveries")
    .select("id")
    .where("company_id", "=", companyId)
    .where("name", "=", name)
    .where("state", "=", "delivered")
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Contents that documents refer to, by their SHA-256, a page at a time in their order. */
export async function listContentHashes(
  read: Reader,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await read
    .selectFrom("documents")
    .select("sha256")
    .distinct()
    .where("sha256", ">", after)
    .orderBy("sha256")
    .limit(limit)
    .execute();
  return rows.map(({ sha256 }) => sha256);
}
