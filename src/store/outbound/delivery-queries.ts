/** Deliveries for people: those of a name, and one with its attempts; `delivery-lists.ts` has the lists by filters. */
import type { Reader } from "../database/database.ts";
import { namedColumns, type RowOf } from "../database/named-rows.ts";
import { isOpen } from "./delivery-states.ts";

/** Deliveries with what people see of them. */
export function selectDeliveries(read: Reader) {
  return read
    .selectFrom("deliveries as d")
    .innerJoin("outbound_targets as t", "t.id", "d.target_id")
    .innerJoin("companies as c", "c.id", "d.company_id")
    .leftJoin("hand_pauses as h", (join) =>
      join
        .onRef("h.company_id", "=", "t.company_id")
        .on("h.kind", "=", "target")
        .onRef("h.name", "=", "t.name"),
    )
    .select(["c.code as company", "t.name as target", "t.paused_until as targetPausedUntil"])
    .select(["h.paused_by as targetPausedBy", "h.paused_at as targetPausedAt"])
    .select(
      namedColumns("t.is_configured", "d.id", "d.guid", "d.kind", "d.subject_id", "d.order_key", "d.name"),
    )
    .select(namedColumns("d.state", "d.due_at", "d.attempts", "d.first_attempt_at", "d.last_attempt_at"))
    .select(namedColumns("d.delivered_at", "d.fault", "d.fault_text", "d.sha256", "d.size"))
    .select(namedColumns("d.collected_at", "d.collected_by", "d.collected_from", "d.created_at"))
    .select(namedColumns("d.removed_at", "d.removed_by", "d.removed_from"));
}

type Row = Awaited<ReturnType<ReturnType<typeof selectDeliveries>["execute"]>>[number];

export interface ListedDelivery extends Omit<Row, "isConfigured"> {
  readonly isTargetConfigured: boolean;
}

export function listed({ isConfigured, ...row }: Row): ListedDelivery {
  return { ...row, isTargetConfigured: isConfigured === 1 };
}

/** The targets of a company, of a name, or both, for a condition. */
export function targetsOf(
  read: Reader,
  { companyId, target }: { readonly companyId: number | undefined; readonly target: string | undefined },
) {
  let query = read.selectFrom("outbound_targets").select("outbound_targets.id");
  if (companyId !== undefined) query = query.where("outbound_targets.company_id", "=", companyId);
  if (target !== undefined) query = query.where("outbound_targets.name", "=", target);
  return query;
}

type ListedAttempt = Pick<RowOf<"delivery_attempts">, "at" | "durationMs" | "fault" | "faultText">;

export interface DeliveryWithAttempts extends ListedDelivery {
  /** Oldest first. */
  readonly repeats: Awaited<ReturnType<typeof listRepeats>>;
  /** Those that failed, oldest first. */
  readonly failedAttempts: readonly ListedAttempt[];
  /** The one that has to be done first, when it is behind another. */
  readonly behind: { readonly id: number; readonly name: string; readonly dueAt: number } | null;
}

async function findAhead(read: Reader, id: number): Promise<DeliveryWithAttempts["behind"]> {
  const row = await read
    .selectFrom("deliveries as d")
    .innerJoin("deliveries as own", (join) =>
      join.onRef("own.target_id", "=", "d.target_id").onRef("own.order_key", "=", "d.order_key"),
    )
    .select(["d.id", "d.name", "d.due_at as dueAt"])
    .where("own.id", "=", id)
    .where(isOpen("d.state"))
    .orderBy("d.line_nbr")
    .orderBy("d.id")
    .limit(1)
    .executeTakeFirst();
  return row ?? null;
}

/** What the delivery was each time when somebody requested it again, or gave it up. */
async function listRepeats(read: Reader, id: number) {
  return await read
    .selectFrom("delivery_repeats")
    .select(namedColumns("asked_at", "state", "attempts", "last_attempt_at", "fault", "sha256"))
    .select(namedColumns("delivered_at", "collected_at", "collected_by", "collected_from"))
    .select(namedColumns("removed_at", "removed_by", "removed_from"))
    .select(namedColumns("action", "asked_by", "reason"))
    .where("delivery_id", "=", id)
    .orderBy("id")
    .execute();
}

/** The delivery of that id, or of that GUID, by which the receiver knows it; undefined when there is none. */
export async function findDelivery(
  read: Reader,
  key: number | string,
): Promise<DeliveryWithAttempts | undefined> {
  const row = await selectDeliveries(read)
    .where(typeof key === "number" ? "d.id" : "d.guid", "=", key)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const failedAttempts = await read
    .selectFrom("delivery_attempts")
    .select(namedColumns("at", "duration_ms", "fault", "fault_text"))
    .where("delivery_id", "=", row.id)
    .orderBy("id")
    .execute();
  const behind = row.state === "behind" ? await findAhead(read, row.id) : null;
  return { ...listed(row), failedAttempts, behind, repeats: await listRepeats(read, row.id) };
}

/** Deliveries of files, or folders of files, of that name, and of completions with that name; the oldest first. */
export async function listDeliveriesByName(
  read: Reader,
  { companyId, name }: { readonly companyId: number; readonly name: string },
): Promise<readonly ListedDelivery[]> {
  const completions = await read
    .selectFrom("completions")
    .select("id")
    .where("company_id", "=", companyId)
    .where("name", "=", name)
    .execute();
  const ofCompletions = completions.map(({ id }) => id);
  const named = await selectDeliveries(read)
    .where("d.company_id", "=", companyId)
    .where("d.name", "=", name)
    .execute();
  const moved =
    ofCompletions.length === 0
      ? []
      : await selectDeliveries(read)
          .where("d.kind", "=", "completion")
          .where("d.subject_id", "in", ofCompletions)
          .execute();
  const all = new Map([...named, ...moved].map((row) => [row.id, listed(row)]));
  return [...all.values()].toSorted((one, other) => one.id - other.id);
}
