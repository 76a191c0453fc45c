/** What is due: the deliveries that are first in their line, in pages. Only the queue reads them. */
import type { Reader } from "../database/database.ts";
import type { DeliveryKind } from "./deliveries.ts";
import { isInState } from "./delivery-states.ts";
import { prepareQuery } from "../database/prepared-query.ts";

/** A delivery that is waiting. */
export interface DeliveryHead {
  readonly id: number;
  readonly guid: string;
  readonly companyId: number;
  readonly targetId: number;
  readonly kind: DeliveryKind;
  readonly subjectId: number;
  readonly orderKey: string;
  readonly name: string;
  readonly dueAt: number;
  /** Attempts so far. */
  readonly attempts: number;
  /** Milliseconds UTC; null before the first attempt. */
  readonly firstAttemptAt: number | null;
}

interface HeadRow extends Omit<DeliveryHead, "kind"> {
  readonly kind: string;
}

const columns = [
  ...(["id", "guid", "kind", "name", "attempts"] as const),
  ...(["company_id as companyId", "target_id as targetId", "subject_id as subjectId"] as const),
  ...(["order_key as orderKey", "due_at as dueAt", "first_attempt_at as firstAttemptAt"] as const),
] as const;

interface PageArguments {
  readonly targetId: number;
  readonly limit: number;
}

const pageQuery = prepareQuery<PageArguments, HeadRow>((db, arg) =>
  db
    .selectFrom("deliveries")
    .select(columns)
    .where("target_id", "=", arg("targetId"))
    .where(isInState("state", "waiting"))
    .orderBy("due_at")
    .orderBy("id")
    .limit(arg("limit")),
);

/** The waiting deliveries of the target, by when they are due, then by age; those not due yet are at the end. */
export async function listHeads(read: Reader, page: PageArguments): Promise<readonly DeliveryHead[]> {
  const { rows } = await pageQuery.run(read, page);
  return rows.map((row) => ({ ...row, kind: row.kind as DeliveryKind }));
}

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
