/** The rows of old deliveries. Which of them are removed, and in which steps, is in `outbound/prune-deliveries.ts`. */
import {
  type DeliveryKind,
  endedDeliveryStates,
  givenUpFault,
} from "../../domain/outbound/delivery-state.ts";
import type { StopStatus } from "../../domain/stop/stop-status.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";

/** A completion, message or export. */
export interface Subject {
  readonly id: number;
  /** Milliseconds UTC. */
  readonly createdAt: number;
}

const subjectTables = {
  completion: "completions",
  message: "messages",
  export: "exports",
  alert: "alert_notices",
} as const;

export interface SubjectPage {
  readonly companyId: number;
  /** Where the page before this one has ended; 0 for the first. */
  readonly afterId: number;
  /** How many are read. */
  readonly limit: number;
}

/** Those of a company, oldest first. */
export async function listSubjects(
  read: Reader | Transaction,
  kind: DeliveryKind,
  { companyId, afterId, limit }: SubjectPage,
): Promise<readonly Subject[]> {
  return await read
    .selectFrom(subjectTables[kind])
    .select(["id", "created_at as createdAt"])
    .where("company_id", "=", companyId)
    .where("id", ">", afterId)
    .orderBy("id")
    .limit(limit)
    .execute();
}

/**
 * Those of the completions, exports or messages with a delivery that has not ended, or has since that time: it was
 * delivered, or somebody has given it up.
 */
export async function findUnfinishedSince(
  read: Reader | Transaction,
  ids: readonly number[],
  { kind, since }: { readonly kind: DeliveryKind; readonly since: number },
): Promise<ReadonlySet<number>> {
  const rows = await read
    .selectFrom("deliveries")
    .select("subject_id")
    .distinct()
    .where("kind", "=", kind)
    .where("subject_id", "in", ids)
    .where((eb) =>
      eb.or([
        eb("state", "not in", endedDeliveryStates),
        eb("delivered_at", ">=", since),
        eb.and([
          eb("fault", "=", givenUpFault),
          eb.exists(
            eb
              .selectFrom("delivery_repeats as r")
              .select("r.id")
              .whereRef("r.delivery_id", "=", "deliveries.id")
              .where("r.asked_at", ">=", since),
          ),
        ]),
      ]),
    )
    .execute();
  return new Set(rows.map(({ subject_id }) => subject_id));
}

/** How many deliveries these have. */
export async function countDeliveries(
  read: Reader,
  kind: DeliveryKind,
  ids: readonly number[],
): Promise<number> {
  const { count } = await read
    .selectFrom("deliveries")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("kind", "=", kind)
    .where("subject_id", "in", ids)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Removes the deliveries of these, with their attempts and repetitions; returns how many they were. */
export async function removeDeliveries(
  tx: Transaction,
  kind: DeliveryKind,
  ids: readonly number[],
): Promise<number> {
  for (const table of ["delivery_attempts", "delivery_repeats"] as const)
    await tx
      .deleteFrom(table)
      .where("delivery_id", "in", (eb) =>
        eb.selectFrom("deliveries").select("id").where("kind", "=", kind).where("subject_id", "in", ids),
      )
      .execute();
  const { numDeletedRows } = await tx
    .deleteFrom("deliveries")
    .where("kind", "=", kind)
    .where("subject_id", "in", ids)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** Up to which completion the schedules of the company that have a next time have exported, the least of them. */
export async function findFirstWatermark(
  read: Reader | Transaction,
  companyId: number,
): Promise<number | undefined> {
  const row = await read
    .selectFrom("export_schedules")
    .select((eb) => eb.fn.min("watermark").as("first"))
    .where("company_id", "=", companyId)
    .where("next_due_at", "is not", null)
    .executeTakeFirst();
  return row?.first ?? undefined;
}

/** The completion after which the first export of the company begins that has deliveries. */
export async function findFirstExportStart(tx: Transaction, companyId: number): Promise<number | undefined> {
  const row = await tx
    .selectFrom("exports as e")
    .innerJoin("deliveries as d", (join) =>
      join.onRef("d.subject_id", "=", "e.id").on("d.kind", "=", "export"),
    )
    .select((eb) => eb.fn.min("e.after_completion_id").as("first"))
    .where("e.company_id", "=", companyId)
    .executeTakeFirst();
  return row?.first ?? undefined;
}

/** Removes those of the completions whose id is at most `lastId`; returns how many they were. */
export async function removeCompletions(
  tx: Transaction,
  { ids, lastId }: { readonly ids: readonly number[]; readonly lastId: number },
): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom("completions")
    .where("id", "in", ids)
    .where("id", "<=", lastId)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** Removes messages, whose deliveries are gone. */
export async function removeMessages(tx: Transaction, ids: readonly number[]): Promise<void> {
  await tx.deleteFrom("messages").where("id", "in", ids).execute();
}

/** Removes announced arrivals of stops that are in one of the states, or gone. */
export async function removeToldEtas(
  tx: Transaction,
  { companyId, statuses }: { readonly companyId: number; readonly statuses: readonly StopStatus[] },
): Promise<void> {
  await tx
    .deleteFrom("message_etas")
    .where("company_id", "=", companyId)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom("stops as s")
            .select("s.id")
            .whereRef("s.company_id", "=", "message_etas.company_id")
            .whereRef("s.stop_nbr", "=", "message_etas.stop_nbr")
            .where("s.stop_status", "not in", statuses),
        ),
      ),
    )
    .execute();
}
