/**
 * Which of the files that were delivered into their company's own folder hosts have fetched
 * (specification/outbound.md#picked-up).
 */
import { sql } from "kysely";
import type { Reader } from "../database/database.ts";
import { isInState } from "./delivery-states.ts";
import type { Transaction } from "../database/groups/group-commit.ts";

export interface PickupRecord {
  readonly companyId: number;
  /** The targets that deliver into the folder. */
  readonly targetNames: readonly string[];
  /** The name of the delivery: its file, or the folder of an export of single files. */
  readonly name: string;
  /** `removed`: the file is not there any more. */
  readonly kind: "collected" | "removed";
  /** Milliseconds UTC. */
  readonly at: number;
  /** The user, and the address of their client; null when nobody knows. */
  readonly by: string | null;
  readonly from: string | null;
}

function ofTargets(companyId: number, names: readonly string[]) {
  return sql<boolean>`target_id in (select id from outbound_targets
    where company_id = ${companyId} and name in (${sql.join(names.length === 0 ? [""] : names)}))`;
}

/**
 * Records the first time that the file was fetched, or removed; later ones change nothing. Returns how many deliveries
 * it was. A host may be quicker than the record that the file was delivered: then the delivery is still waiting.
 */
export async function recordPickup(tx: Transaction, pickup: PickupRecord): Promise<number> {
  const { companyId, targetNames, name, kind, at, by, from } = pickup;
  const change =
    kind === "collected"
      ? { collected_at: at, collected_by: by, collected_from: from }
      : { removed_at: at, removed_by: by, removed_from: from };
  const { numUpdatedRows } = await tx
    .updateTable("deliveries")
    .set(change)
    .where("company_id", "=", companyId)
    .where("name", "=", name)
    .where("state", "in", ["delivered", "waiting"])
    .where(kind === "collected" ? "collected_at" : "removed_at", "is", null)
    .where(ofTargets(companyId, targetNames))
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

export interface UncollectedQuery {
  readonly companyId: number;
  readonly targetNames: readonly string[];
  /** Delivered before this, milliseconds UTC. */
  readonly before: number;
  readonly limit: number;
}

export interface UncollectedFile {
  readonly deliveryId: number;
  readonly name: string;
  readonly deliveredAt: number;
}

/** Files that nobody has fetched or removed, the oldest first. */
export async function listUncollected(
  read: Reader,
  query: UncollectedQuery,
): Promise<readonly UncollectedFile[]> {
  const rows = await read
    .selectFrom("deliveries")
    .select(["id", "name", "delivered_at"])
    .where("company_id", "=", query.companyId)
    .where(isInState("state", "delivered"))
    .where(sql<boolean>`collected_at is null and removed_at is null`)
    .where("delivered_at", "<", query.before)
    .where(ofTargets(query.companyId, query.targetNames))
    .orderBy("delivered_at")
    .limit(query.limit)
    .execute();
  return rows.map(({ id, name, delivered_at }) => ({
    deliveryId: id,
    name,
    deliveredAt: delivered_at ?? 0,
  }));
}
