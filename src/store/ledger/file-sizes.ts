/** What files take on the disk, by the last ones of each kind. */
import { sql } from "kysely";
import type { Reader } from "../database/database.ts";

/** What a file takes at least, and receipts mostly. */
export const blockBytes = 4_096;

const sampledRows = 2_000;

/** The size, rounded up to blocks. Literally: numbers that are bound are no integers, and do not round. */
const blocks = sql.raw(`(coalesce(size, 0) + ${blockBytes - 1}) / ${blockBytes} * ${blockBytes}`);

/** Bytes for each row of the ledger, by where its file lies. */
export interface FiledBytes {
  readonly archive: number;
  readonly error: number;
}

/** Files that users have removed count nothing; those that went by their age were there. */
export async function meanFiledBytes(read: Reader): Promise<FiledBytes> {
  const kept = sql`case when removed_at is null or pruned_days is not null then ${blocks} else 0 end`;
  const query = sql<{ archive: number | null; error: number | null }>`select
    avg(case when state in ('refused', 'superseded') then 0 else bytes end) as archive,
    avg(case when state in ('refused', 'superseded') then bytes + ${blockBytes} else 0 end) as error
    from (select state, ${kept} as bytes from files order by id desc limit ${sampledRows}) as filed`;
  const row = (await query.execute(read)).rows[0];
  return { archive: row?.archive ?? 0, error: row?.error ?? 0 };
}

/** Bytes for each row of the documents: one content may belong to many. */
export async function meanDocumentBytes(read: Reader): Promise<number> {
  const last = sql`select sha256, size from documents order by rowid desc limit ${sampledRows}`;
  const query = sql<{ bytes: number | null }>`select
    (select sum(bytes) from (select max(${blocks}) as bytes from (${last}) as d group by sha256) as contents) * 1.0
    / (select count(*) from (${last}) as d) as bytes`;
  return (await query.execute(read)).rows[0]?.bytes ?? 0;
}

/** Bytes that lie at a target for each row of the deliveries; what was collected and removed is not there any more. */
export interface DeliveredBytes {
  readonly targetId: number;
  readonly bytes: number;
}

export async function meanDeliveredBytes(read: Reader): Promise<readonly DeliveredBytes[]> {
  const last = sql`select target_id, state, size, removed_at from deliveries order by id desc limit ${sampledRows}`;
  const query = sql<DeliveredBytes>`select target_id as "targetId",
    sum(case when state = 'delivered' and removed_at is null then ${blocks} else 0 end) * 1.0
    / (select count(*) from (${last}) as d) as bytes from (${last}) as d group by target_id`;
  return (await query.execute(read)).rows;
}
