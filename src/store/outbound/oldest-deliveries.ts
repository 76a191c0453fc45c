/** The deliveries that wait longest, of some targets together: by the index that has what is open of each in its order. */
import type { Reader } from "../database/database.ts";
import { type ListedDelivery, listed, selectDeliveries } from "./delivery-queries.ts";
import { isOpen } from "./delivery-states.ts";

export interface OldestAsked {
  readonly targetIds: readonly number[];
  /** Only those with a greater id; 0 for all. */
  readonly afterId: number;
  readonly limit: number;
}

async function idsOfTarget(read: Reader, targetId: number, { afterId, limit }: OldestAsked) {
  const rows = await read
    .selectFrom("deliveries")
    .select("id")
    .where("target_id", "=", targetId)
    .where(isOpen("state"))
    .where("id", ">", afterId)
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Those that are open, in the order in which they were put in the queue. */
export async function listOldestDeliveries(
  read: Reader,
  asked: OldestAsked,
): Promise<readonly ListedDelivery[]> {
  const ids: number[] = [];
  for (const targetId of asked.targetIds) ids.push(...(await idsOfTarget(read, targetId, asked)));
  const oldest = ids.toSorted((one, other) => one - other).slice(0, asked.limit);
  if (oldest.length === 0) return [];
  const rows = await selectDeliveries(read).where("d.id", "in", oldest).execute();
  return rows.map(listed).toSorted((one, other) => one.id - other.id);
}
