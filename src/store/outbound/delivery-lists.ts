/**
 * Lists of deliveries by what people ask for (`dropgate deliveries`, `delivery retry`, `delivery resend`). An index serves
 * targets with an open or dead state, numbers of stops, and names as far as they begin with digits; all else is looked
 * for from the newest on, until the page is full. Commands run these in a process of their own, never the daemon.
 */
import { type Expression, expressionBuilder, type SqlBool, sql } from "kysely";
import type { DeliveryKind, DeliveryState } from "../../domain/outbound/delivery-state.ts";
import { unindexed } from "../database/dialects/sql-forms.ts";
import type { Reader } from "../database/database.ts";
import { isOfName, isServedByIndex } from "../database/searches/name-pattern.ts";
import type { Tables } from "../database/schema.ts";
import { type ListedDelivery, listed, selectDeliveries, targetsOf } from "./delivery-queries.ts";
import { isInState, isOpen } from "./delivery-states.ts";

/** What people ask for; together as far as it is given. */
export interface DeliverySelection {
  readonly companyId?: number;
  readonly target?: string;
  /** One of these targets; for what the store does not know of them. */
  readonly targetIds?: readonly number[];
  readonly kind?: DeliveryKind;
  readonly state?: DeliveryState;
  readonly stopNbr?: string;
  /** Made at this time or later, and before that one, milliseconds UTC. */
  readonly since?: number;
  readonly until?: number;
  /** Delivered at this time or later, and before that one, milliseconds UTC. */
  readonly deliveredSince?: number;
  readonly deliveredUntil?: number;
  /** A name, in which `*` stands for any characters and `?` for one. */
  readonly name?: string;
  /** The fault of the last attempt. */
  readonly fault?: string;
  /** Who fetched or removed the file. */
  readonly userName?: string;
}

type Condition = Expression<SqlBool>;

const deliveries = () => expressionBuilder<Tables & { d: Tables["deliveries"] }, "d">();

/** Completions of a stop, and messages about it. */
function isOfStop({ companyId }: DeliverySelection, stopNbr: string): Condition {
  const eb = deliveries();
  const subjectsIn = (table: "completions" | "messages") => {
    const ofStop = eb.selectFrom(table).select("id").where("stop_nbr", "=", stopNbr);
    const companies = eb.selectFrom("companies").select("companies.id");
    // All companies by name: the index begins with the company.
    return companyId === undefined
      ? ofStop.where("company_id", "in", companies)
      : ofStop.where("company_id", "=", companyId);
  };
  return eb.or([
    eb.and([eb("d.kind", "=", "completion"), eb("d.subject_id", "in", subjectsIn("completions"))]),
    eb.and([eb("d.kind", "=", "message"), eb("d.subject_id", "in", subjectsIn("messages"))]),
  ]);
}

/** By targets, of which there are few: the indexes of what is open or dead begin with them. */
function isOfTargets(read: Reader, { companyId, target, targetIds, state }: DeliverySelection): Condition[] {
  const eb = deliveries();
  const ofIds = targetIds === undefined ? [] : [eb("d.target_id", "in", [...targetIds])];
  const hasIndex = state !== undefined && state !== "delivered" && state !== "dropped";
  if (companyId === undefined && target === undefined && !hasIndex) return ofIds;
  return [...ofIds, eb("d.target_id", "in", targetsOf(read, { companyId, target }))];
}

function isInTimes({ since, until, deliveredSince, deliveredUntil }: DeliverySelection): Condition[] {
  const eb = deliveries();
  return [
    ...(since === undefined ? [] : [eb("d.created_at", ">=", since)]),
    ...(until === undefined ? [] : [eb("d.created_at", "<", until)]),
    ...(deliveredSince === undefined ? [] : [eb("d.delivered_at", ">=", deliveredSince)]),
    ...(deliveredUntil === undefined ? [] : [eb("d.delivered_at", "<", deliveredUntil)]),
  ];
}

function isNamed(name: string): Condition[] {
  const eb = deliveries();
  const isOf = isOfName("d.name", name);
  if (!isServedByIndex(name)) return [isOf];
  return [eb("d.company_id", "in", eb.selectFrom("companies").select("companies.id")), isOf];
}

function conditions(read: Reader, selection: DeliverySelection): Condition {
  const { kind, state, stopNbr, name, fault, userName } = selection;
  const eb = deliveries();
  return eb.and([
    ...isOfTargets(read, selection),
    ...isInTimes(selection),
    ...(state === undefined ? [] : [isInState("d.state", state)]),
    ...(state === "behind" ? [isOpen("d.state")] : []),
    // The index of subjects begins with the kind: it would have all of the kind sorted (`+` keeps it away).
    ...(kind === undefined ? [] : [sql<SqlBool>`${unindexed}${sql.ref("d.kind")} = ${kind}`]),
    ...(stopNbr === undefined ? [] : [isOfStop(selection, stopNbr)]),
    ...(name === undefined ? [] : isNamed(name)),
    ...(fault === undefined ? [] : [eb("d.fault", "=", fault)]),
    ...(userName === undefined
      ? []
      : [sql<SqlBool>`${userName} in (${sql.ref("d.collected_by")}, ${sql.ref("d.removed_by")})`]),
  ]);
}

/** The deliveries of the selection, the newest first; those made before one when it is given. */
export async function listDeliveries(
  read: Reader,
  selection: DeliverySelection & { readonly beforeId?: number; readonly limit: number },
): Promise<readonly ListedDelivery[]> {
  const { beforeId, limit } = selection;
  let query = selectDeliveries(read).where(conditions(read, selection));
  if (beforeId !== undefined) query = query.where("d.id", "<", beforeId);
  return (await query.orderBy("d.id", "desc").limit(limit).execute()).map(listed);
}

/** How many deliveries the selection has. */
export async function countDeliveries(read: Reader, selection: DeliverySelection): Promise<number> {
  const row = await read
    .selectFrom("deliveries as d")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where(conditions(read, selection))
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}

/** Ids of the selection after one and up to another, in the order of what happened. */
export async function listDeliveryIds(
  read: Reader,
  selection: DeliverySelection,
  page: { readonly afterId: number; readonly upToId: number; readonly limit: number },
): Promise<readonly number[]> {
  const rows = await read
    .selectFrom("deliveries as d")
    .select("d.id")
    .where(conditions(read, selection))
    .where("d.id", ">", page.afterId)
    .where("d.id", "<=", page.upToId)
    .orderBy("d.id")
    .limit(page.limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** The greatest id of all deliveries; 0 when there is none. */
export async function lastDeliveryId(read: Reader): Promise<number> {
  const row = await read
    .selectFrom("deliveries")
    .select((eb) => eb.fn.max("id").as("last"))
    .executeTakeFirst();
  return Number(row?.last ?? 0);
}

/** The ids of the targets of these deliveries. */
export async function targetIdsOf(read: Reader, ids: readonly number[]): Promise<readonly number[]> {
  const rows = await read
    .selectFrom("deliveries")
    .select("target_id")
    .distinct()
    .where("id", "in", [...ids])
    .execute();
  return rows.map((row) => row.target_id);
}

/** The ids of those deliveries of a company that have one of these GUIDs, in the order of what happened. */
export async function listIdsOfGuids(
  read: Reader,
  { companyId, guids }: { readonly companyId: number; readonly guids: readonly string[] },
): Promise<readonly { readonly id: number; readonly guid: string }[]> {
  if (guids.length === 0) return [];
  return await read
    .selectFrom("deliveries")
    .select(["id", "guid"])
    .where("guid", "in", [...guids])
    .where("company_id", "=", companyId)
    .orderBy("id")
    .execute();
}
