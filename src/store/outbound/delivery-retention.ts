/**
 * Removes what was delivered long ago, and the completions that nothing refers to any more, a few at a time. What is open or
 * dead stays, with its completion; so does what an export has still to tell of.
 */
import { finalStopStatuses } from "../../domain/stop/stop-status.ts";
import { killPoint } from "../../lib/kill-point.ts";
import type { DeliveryKind } from "./deliveries.ts";
import { givenUpFault } from "./delivery-states.ts";
import type { Transaction } from "../database/group-commit.ts";

export interface PruneStep {
  readonly companyId: number;
  /** What was delivered before this is removed, milliseconds UTC. */
  readonly before: number;
  /** Where the step before this one has ended; 0 for the first. */
  readonly afterId: number;
  /** How many are looked at. */
  readonly limit: number;
}

export interface Pruned {
  /** From where to go on; undefined when there is nothing more that old. */
  readonly lastId: number | undefined;
  readonly deliveries: number;
  readonly completions: number;
}

interface Subject {
  readonly id: number;
  readonly created_at: number;
}

const subjectTables = { completion: "completions", message: "messages", export: "exports" } as const;

/** The old ones in front; `isLast` when a young one follows, or none. */
function oldOnes(rows: readonly Subject[], { before, limit }: PruneStep) {
  const young = rows.findIndex(({ created_at }) => created_at >= before);
  const ids = (young === -1 ? rows : rows.slice(0, young)).map(({ id }) => id);
  return { ids, isLast: young !== -1 || rows.length < limit };
}

/** Those of the completions, exports or messages that no delivery needs: each was delivered, before that time. */
async function unneeded(
  tx: Transaction,
  ids: readonly number[],
  { kind, before }: { readonly kind: DeliveryKind; readonly before: number },
): Promise<readonly number[]> {
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
  const needed = new Set(rows.map(({ subject_id }) => subject_id));
  return ids.filter((id) => !needed.has(id));
}

async function removeDeliveries(
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
async function lastExported(tx: Transaction, companyId: number): Promise<number> {
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

async function removeCompletions(
  tx: Transaction,
  companyId: number,
  ids: readonly number[],
): Promise<number> {
  const last = await lastExported(tx, companyId);
  const { numDeletedRows } = await tx
    .deleteFrom("completions")
    .where("id", "in", ids)
    .where("id", "<=", last)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** The old subjects of a step that are needed no more; their deliveries are removed. */
async function pruneSubjects(tx: Transaction, kind: DeliveryKind, step: PruneStep) {
  const rows = await tx
    .selectFrom(subjectTables[kind])
    .select(["id", "created_at"])
    .where("company_id", "=", step.companyId)
    .where("id", ">", step.afterId)
    .orderBy("id")
    .limit(step.limit)
    .execute();
  const { ids, isLast } = oldOnes(rows, step);
  const gone = ids.length === 0 ? [] : await unneeded(tx, ids, { kind, before: step.before });
  const deliveries = gone.length === 0 ? 0 : await removeDeliveries(tx, kind, gone);
  return { lastId: isLast ? undefined : ids.at(-1), gone, deliveries };
}

/** One step through the company's completions, oldest first, with their deliveries. */
export async function pruneCompletions(tx: Transaction, step: PruneStep): Promise<Pruned> {
  const { gone, ...pruned } = await pruneSubjects(tx, "completion", step);
  const completions = gone.length === 0 ? 0 : await removeCompletions(tx, step.companyId, gone);
  return { ...pruned, completions };
}

/** Arrivals that customers were told of stops that are done, or gone. */
async function removeToldEtas(tx: Transaction, companyId: number): Promise<void> {
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

/** One step through the company's customer messages, oldest first: those that are over, with their deliveries. */
export async function pruneMessages(tx: Transaction, step: PruneStep): Promise<Pruned> {
  const { gone, ...pruned } = await pruneSubjects(tx, "message", step);
  if (pruned.lastId === undefined) await removeToldEtas(tx, step.companyId);
  if (gone.length > 0) await tx.deleteFrom("messages").where("id", "in", gone).execute();
  return { ...pruned, completions: 0 };
}

/** One step through the company's exports, oldest first: their deliveries go, the exports stay with their numbers. */
export async function pruneExportDeliveries(tx: Transaction, step: PruneStep): Promise<Pruned> {
  const { lastId, deliveries } = await pruneSubjects(tx, "export", step);
  return { lastId, deliveries, completions: 0 };
}
