/**
 * The delivery queue as rows, made in the transaction of what they tell of. Their repetition is in
 * `operations/deliveries`, what the queue does with them in `outbound`.
 */
import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import type { NameRange } from "../../domain/outbound/completion-name.ts";
import { guidForm } from "../../lib/ids.ts";
import { announce } from "../database/announcements.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { namedArguments, type RowOf } from "../database/named-rows.ts";
import { prepareQuery } from "../database/prepared-query.ts";
import { isOpen } from "./delivery-states.ts";
import { changeTargetCounts, completionTargetsOf } from "./outbound-targets.ts";

/** The deliveries of a target that go one after the other. */
export type DeliveryLine = Pick<RowOf<"deliveries">, "targetId" | "orderKey">;

export interface NewDelivery
  extends DeliveryLine,
    Pick<RowOf<"deliveries">, "companyId" | "kind" | "subjectId" | "name"> {
  /** Milliseconds UTC: it is due at once. */
  readonly now: number;
}

const versionBits = 0x70;
const variantBits = 0x80;

/**
 * A GUID (version 7) for a delivery made at that time (milliseconds UTC). GUIDs of one time sort together, so that the
 * index over millions of them grows at its end.
 */
function newDeliveryGuid(now: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Math.max(0, Math.trunc(now)), 0, 6);
  bytes[6] = versionBits | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = variantBits | ((bytes[8] ?? 0) & 0x3f);
  return guidForm(bytes);
}

const lineQuery = prepareQuery<DeliveryLine, { id: number }>((db, arg) =>
  db
    .selectFrom("deliveries")
    .select("id")
    .where("target_id", "=", arg("targetId"))
    .where("order_key", "=", arg("orderKey"))
    .where(isOpen("state"))
    .limit(sql.lit(1)),
);

/** Whether any delivery of the line is open. Each change of a line checks this first: mostly it is empty. */
export async function isLineOpen(tx: Transaction, line: DeliveryLine): Promise<boolean> {
  return (await lineQuery.find(tx, line)) !== undefined;
}

const lastPlaceQuery = prepareQuery<DeliveryLine, { readonly last: number | null }>((db, arg) =>
  db
    .selectFrom("deliveries")
    .select((eb) => eb.fn.max("line_nbr").as("last"))
    .where("target_id", "=", arg("targetId"))
    .where("order_key", "=", arg("orderKey"))
    .where(isOpen("state")),
);

interface InsertArguments extends NewDelivery {
  readonly guid: string;
  readonly lineNbr: number;
  readonly state: "waiting" | "behind";
}

const insertQuery = prepareQuery<InsertArguments>(
  (db, arg) =>
    db.insertInto("deliveries").values({
      ...namedArguments(arg, "guid", "company_id", "target_id", "kind", "subject_id", "order_key"),
      ...namedArguments(arg, "line_nbr", "name", "state"),
      ...{ due_at: arg("now"), created_at: arg("now") },
    }),
  { changesOwnRows: true },
);

async function insertUncounted(tx: Transaction, delivery: NewDelivery): Promise<string> {
  const guid = newDeliveryGuid(delivery.now);
  const isBehind = await isLineOpen(tx, delivery);
  const lineNbr = isBehind ? ((await lastPlaceQuery.find(tx, delivery))?.last ?? 0) : 0;
  await insertQuery.run(tx, { ...delivery, guid, lineNbr, state: isBehind ? "behind" : "waiting" });
  return guid;
}

/** Puts a delivery at the end of its line, due at once. */
export async function addDelivery(tx: Transaction, delivery: NewDelivery): Promise<void> {
  await changeTargetCounts(tx, { id: delivery.targetId, open: 1, dead: 0 });
  await insertUncounted(tx, delivery);
}

/** Puts a delivery at the end of its line, due at once; gives its id. */
export async function insertDelivery(tx: Transaction, delivery: NewDelivery): Promise<number> {
  await changeTargetCounts(tx, { id: delivery.targetId, open: 1, dead: 0 });
  const guid = await insertUncounted(tx, delivery);
  const query = tx.selectFrom("deliveries").select("id").where("guid", "=", guid);
  return (await query.executeTakeFirstOrThrow()).id;
}

const countCompletion = prepareQuery<{ companyId: number }>((db, arg) =>
  db
    .updateTable("outbound_targets")
    .set((eb) => ({ open_count: eb("open_count", "+", 1), added_count: eb("added_count", "+", 1) }))
    .where("company_id", "=", arg("companyId"))
    .where("takes_completions", "=", 1)
    .where("is_configured", "=", 1),
);

/** A delivery of the completion to each target of its company that takes completions at once. */
export async function insertCompletionDeliveries(
  tx: Transaction,
  completion: Omit<NewDelivery, "targetId" | "kind">,
): Promise<void> {
  const targets = await completionTargetsOf(tx, completion.companyId);
  if (targets.length === 0) return;
  await countCompletion.run(tx, completion);
  announce(tx, "deliveries");
  for (const targetId of targets) await insertUncounted(tx, { ...completion, kind: "completion", targetId });
}

interface NamesOfCompany extends NameRange {
  readonly companyId: number;
}

const takenNames = prepareQuery<NamesOfCompany, { name: string }>((db, arg) =>
  db
    .selectFrom("completions")
    .select("name")
    .where("company_id", "=", arg("companyId"))
    .where("name", ">=", arg("from"))
    .where("name", "<=", arg("to"))
    .union(
      db
        .selectFrom("deliveries")
        .select("name")
        .where("company_id", "=", arg("companyId"))
        .where("name", ">=", arg("from"))
        .where("name", "<=", arg("to")),
    )
    .orderBy("name")
    .limit(arg("limit")),
);

/** The names in the range that completions and deliveries of the company have, in their order. */
export async function listTakenNames(tx: Transaction, range: NamesOfCompany): Promise<readonly string[]> {
  return (await takenNames.rows(tx, range)).map(({ name }) => name);
}
