/** Notices to an audience as rows: what they say, kept as it was sent. */
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { named, namedColumns, type RowOf } from "../database/named-rows.ts";

export type StoredNotice = RowOf<"alert_notices">;

/** Stores a notice; returns its id. */
export async function insertNotice(tx: Transaction, notice: Omit<StoredNotice, "id">): Promise<number> {
  const { companyId, subject, text, body, createdAt, isTest } = notice;
  const { id } = await tx
    .insertInto("alert_notices")
    .values({ company_id: companyId, subject, text, body, created_at: createdAt, is_test: isTest })
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
}

/**
 * At how many moments from one time to another the audience was sent notices, without tests: at one moment each receiver
 * gets one. Those from the future were made by a clock that was ahead.
 */
export async function countNoticeTimes(
  tx: Transaction,
  { companyId, since, until }: { readonly companyId: number; readonly since: number; readonly until: number },
): Promise<number> {
  const row = await tx
    .selectFrom("alert_notices")
    .select((eb) => eb.fn.count<number>("created_at").distinct().as("count"))
    .where("company_id", "=", companyId)
    .where("is_test", "=", 0)
    .where("created_at", ">=", since)
    .where("created_at", "<=", until)
    .executeTakeFirstOrThrow();
  return row.count;
}

/** The notice of that id. */
export async function findNotice(read: Reader, id: number): Promise<StoredNotice | undefined> {
  const row = await read.selectFrom("alert_notices").selectAll().where("id", "=", id).executeTakeFirst();
  return row === undefined ? undefined : named(row);
}

/** Removes notices, whose deliveries are gone. */
export async function removeNotices(tx: Transaction, ids: readonly number[]): Promise<void> {
  await tx.deleteFrom("alert_notices").where("id", "in", ids).execute();
}

export type NoticeDelivery = Awaited<ReturnType<typeof listNoticeDeliveries>>[number];

/** The deliveries of a notice, one for each address and service. */
export async function listNoticeDeliveries(read: Reader, noticeId: number) {
  return await read
    .selectFrom("deliveries")
    .select(namedColumns("id", "state", "attempts", "fault", "fault_text"))
    .select("order_key as address")
    .where("kind", "=", "alert")
    .where("subject_id", "=", noticeId)
    .orderBy("id")
    .execute();
}
