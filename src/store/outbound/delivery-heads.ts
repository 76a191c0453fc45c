/** What is due: the deliveries that are first in their line, in pages. Only the queue reads them. */
import type { Reader } from "../database/database.ts";
import { namedColumns, type RowOf } from "../database/named-rows.ts";
import { prepareQuery } from "../database/prepared-query.ts";
import { isInState } from "./delivery-states.ts";

type IdValue = "id" | "guid" | "companyId" | "targetId" | "kind" | "subjectId" | "orderKey" | "name";

/** A delivery that is waiting. */
export type DeliveryHead = Pick<
  RowOf<"deliveries">,
  IdValue | "dueAt" | "attempts" | "firstAttemptAt" | "createdAt"
>;

interface PageArguments {
  readonly targetId: number;
  readonly limit: number;
}

/** The waiting deliveries of the target, by when they are due, then by age; those not due yet are at the end. */
export const listHeads = prepareQuery<PageArguments, DeliveryHead>((db, arg) =>
  db
    .selectFrom("deliveries")
    .select(namedColumns("id", "guid", "company_id", "target_id", "kind", "subject_id", "order_key", "name"))
    .select(namedColumns("due_at", "attempts", "first_attempt_at", "created_at"))
    .where("target_id", "=", arg("targetId"))
    .where(isInState("state", "waiting"))
    .orderBy("due_at")
    .orderBy("id")
    .limit(arg("limit")),
).rows;

/** Which of them are still first in their lines, and wanted. */
export async function findStillWaiting(read: Reader, ids: readonly number[]): Promise<ReadonlySet<number>> {
  const rows = await read
    .selectFrom("deliveries")
    .select("id")
    .where("id", "in", [...ids])
    .where(isInState("state", "waiting"))
    .execute();
  return new Set(rows.map(({ id }) => id));
}
