/** The rows of what was delivered long ago. What of it is removed, and in which steps, is in `outbound/prune-steps.ts`. */
import { finalStopStatuses } from "../../domain/stop/stop-status.ts";
import { killPoint } from "../../lib/kill-point.ts";
import type { Transaction } from "../database/group-commit.ts";
import type { DeliveryKind } from "./deliveries.ts";
import { givenUpFault } from "./delivery-states.ts";

/** A completion, message or export. */
export interface Subject {
  readonly id: number;
  /** Milliseconds UTC. */
  readonly createdAt: number;
}

const subjectTables = { completion: "completions", message: "messages", export: "exports" } as const;

export interface SubjectPage {
  readonly companyId: number;
  /** Where the page before this one has ended; 0 for the first. */
  readonly afterId: number;
  /** How many are read. */
  readonly limit: number;
}

/** Those of a company, oldest first. */
export async function listSubjects(
  tx: Transaction,
  kind: DeliveryKind,
  { companyId, afterId, limit }: SubjectPage,
): Promise<readonly Subject[]> {
  return await tx
    .selectFrom(subjectTables[kind])
    .select(["id", "created_at as createdAt"])
    .where("company_id", "=", companyId)
    .where("id", ">", afterId)
    .orderBy("id")
    .limit(limit)
    .execute();
}

/** Those of the completions, exports or messages that a delivery still needs: not each was delivered before that time. */
export async function findNeeded(
  tx: Transaction,
  ids: readonly number[],
  { kind, before }: { readonly kind: DeliveryKind; readonly before: number },
): Promise<ReadonlySet<number>> {
  const rows = await tx
    .selectFrom("deliveries")
    .select("subject_id")
    .distinct()
    .where("kind", "=", kind)
    .where("subject_id", "in", ids)
    // A message that was dropped has no time of its own: its subject is old, and nobody can ask for it again. What was
    // given up is kept from then on, for who asks what became of it.
    .where((eb) =>
      eb.or([
        eb("state", "not in", ["delivered", "dropped"]),
        eb("delivered_at", ">=", before),
        eb.and([
          eb("fault", "=", givenUpFault),
          eb.exists(
            eb
              .selectFrom("delivery_repeats as r")
              .select("r.id")
              .whereRef("r.delivery_id", "=", "deliveries.id")
              .where("r.asked_at", ">=", before),
          ),
        ]),
      ]),
    )
    .execute();
  return new Set(rows.map(({ subject_id }) => subject_id));
}

/** Removes the deliveries of these, with all that is kept of them; gives how many they were. */
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
  killPoint("delivery.pruned");
  return Number(numDeletedRows);
}

/** The last completion that no export of the company has still to tell of, or to be delivered with. */
export async function findLastExported(tx: Transaction, companyId: number): Promise<number> {
  const schedules = await tx
    .selectFrom("export_schedules")
    .select((eb) => eb.fn.min("watermark").as("first"))
    .where("company_id", "=", companyId)
    // One that is made by hand alone, or is in the configuration no more, holds nothing back.
    .where("next_due_at", "is not", null)
    .executeTakeFirst();
  const open = await tx
    .selectFrom("exports as e")
    .innerJoin("deliveries as d", (join) =>
      join.onRef("d.subject_id", "=", "e.id").on("d.kind", "=", "export"),
    )
    .select((eb) => eb.fn.min("e.after_completion_id").as("first"))
    .where("e.company_id", "=", companyId)
    .executeTakeFirst();
  return Math.min(schedules?.first ?? Number.MAX_SAFE_INTEGER, open?.first ?? Number.MAX_SAFE_INTEGER);
}

/** Removes those of the completions that come no later than `lastId`; gives how many they were. */
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

/** Removes arrivals that customers were told of stops that are done, or gone. */
export async function removeToldEtas(tx: Transaction, companyId: number): Promise<void> {
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
            .where("s.stop_status", "not in", finalStopStatuses),
        ),
      ),
    )
    .execute();
}
