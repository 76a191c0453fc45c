/**
 * Which recorded events may go, as rows. Events of stops and loads that were planned together go together: an answer to
 * `since` then has all that came after it, or says that it is known no longer (`isPositionKnown`).
 */
import { type ExpressionBuilder, sql } from "kysely";
import { finalLoadStatuses } from "../../domain/load/load-status.ts";
import { finalStopStatuses } from "../../domain/stop/stop-status.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { readNote, writeMeta } from "../database/meta.ts";
import { namedColumns, type RowOf } from "../database/named-rows.ts";
import { prepareQuery } from "../database/prepared-query.ts";
import type { Tables } from "../database/schema.ts";

export type EventOwner = Pick<RowOf<"recorded_events">, "companyId" | "stopNbr" | "loadNbr">;

/** A place in the order of ages. */
export interface EventMoment {
  /** Milliseconds UTC. */
  readonly recordedAt: number;
  readonly id: number;
}

export interface OldEvent extends EventOwner, EventMoment {}

/** Those of a company that were recorded before a time (milliseconds UTC), page by page, the oldest first. */
export async function listOldEvents(
  read: Reader,
  page: {
    readonly companyId: number;
    readonly before: number;
    readonly after: EventMoment;
    readonly limit: number;
  },
): Promise<readonly OldEvent[]> {
  const { recordedAt, id } = page.after;
  return await read
    .selectFrom("recorded_events")
    .select(namedColumns("id", "company_id", "stop_nbr", "load_nbr", "recorded_at"))
    .where("company_id", "=", page.companyId)
    .where("recorded_at", "<", page.before)
    .where(sql<boolean>`(recorded_at, id) > (${recordedAt}, ${id})`)
    .orderBy("recorded_at")
    .orderBy("id")
    .limit(page.limit)
    .execute();
}

/** Stops and loads with events in common, one by another. */
export interface EventGroup {
  readonly companyId: number;
  readonly stopNbrs: readonly string[];
  readonly loadNbrs: readonly string[];
}

interface Neighbour {
  readonly nbr: string | null;
  readonly newestAt: number;
}

const loadsOfStop = prepareQuery<{ companyId: number; nbr: string }, Neighbour>((db, arg) =>
  db
    .selectFrom("recorded_events")
    .select((eb) => ["load_nbr as nbr", eb.fn.max<number>("recorded_at").as("newestAt")])
    .where("company_id", "=", arg("companyId"))
    .where("stop_nbr", "=", arg("nbr"))
    .groupBy("load_nbr"),
).rows;

const stopsOfLoad = prepareQuery<{ companyId: number; nbr: string }, Neighbour>((db, arg) =>
  db
    .selectFrom("recorded_events")
    .select((eb) => ["stop_nbr as nbr", eb.fn.max<number>("recorded_at").as("newestAt")])
    .where("company_id", "=", arg("companyId"))
    .where("load_nbr", "=", arg("nbr"))
    .groupBy("stop_nbr"),
).rows;

/** To find a group takes as many queries as it has members: one that is larger is not found in one unit of work. */
const mostMembers = 2_000;

/** Whether the group is too large to be found again in the unit that removes it: it goes part by part. */
export function isLargeGroup({ stopNbrs, loadNbrs }: EventGroup): boolean {
  return stopNbrs.length + loadNbrs.length > mostMembers;
}

/** After so many members a search gives way. */
const askedAtOnce = 200;

/** The members that were visited on the way; whoever has met one of them need not visit it again. */
export interface Visited {
  readonly stops: Set<string>;
  readonly loads: Set<string>;
}

export function newVisited(): Visited {
  return { stops: new Set(), loads: new Set() };
}

export interface GroupSearch {
  /** Milliseconds UTC. */
  readonly before: number;
  readonly visited: Visited;
  /** Gives way to others now and then while a large group is found; without it, as in a unit of work, none is. */
  readonly giveWay?: () => Promise<void>;
}

/** The group of an event; undefined when it has a younger event, meets what was visited before, or is too large. */
export async function findOldGroup(
  read: Reader,
  { companyId, stopNbr, loadNbr }: EventOwner,
  { before, visited, giveWay }: GroupSearch,
): Promise<EventGroup | undefined> {
  const own = newVisited();
  const ahead: { readonly kind: keyof Visited; readonly nbr: string }[] = [];
  const meet = (kind: keyof Visited, nbr: string | null): boolean => {
    if (nbr === null || own[kind].has(nbr)) return true;
    if (visited[kind].has(nbr)) return false;
    own[kind].add(nbr);
    visited[kind].add(nbr);
    ahead.push({ kind, nbr });
    return true;
  };
  let isOld = meet("stops", stopNbr) && meet("loads", loadNbr);
  let asked = 0;
  for (let next = ahead.pop(); isOld && next !== undefined; next = ahead.pop()) {
    const { kind, nbr } = next;
    const neighbours = await (kind === "stops" ? loadsOfStop : stopsOfLoad)(read, { companyId, nbr });
    isOld = neighbours.every(
      (one) => one.newestAt < before && meet(kind === "stops" ? "loads" : "stops", one.nbr),
    );
    asked += 1;
    if (asked % askedAtOnce === 0) await giveWay?.();
    if (giveWay === undefined && own.stops.size + own.loads.size > mostMembers) isOld = false;
  }
  return isOld ? { companyId, stopNbrs: [...own.stops], loadNbrs: [...own.loads] } : undefined;
}

function openStops(read: Reader, { companyId, stopNbrs }: EventGroup) {
  return read
    .selectFrom("stops")
    .select("id")
    .where("company_id", "=", companyId)
    .where("stop_nbr", "in", stopNbrs)
    .where("stop_status", "not in", finalStopStatuses);
}

function openLoads(read: Reader, { companyId, loadNbrs }: EventGroup) {
  return read
    .selectFrom("loads")
    .select("id")
    .where("company_id", "=", companyId)
    .where("load_nbr", "in", loadNbrs)
    .where("load_status", "not in", finalLoadStatuses);
}

/** A completion is made of its events, at each attempt and each time that it is sent again. */
function keptCompletions(read: Reader, { companyId, stopNbrs }: EventGroup) {
  return read
    .selectFrom("completions")
    .select("id")
    .where("company_id", "=", companyId)
    .where("stop_nbr", "in", stopNbrs);
}

/** An order has events before it has a stop. */
function ordersWithoutStop(read: Reader, { companyId, stopNbrs }: EventGroup) {
  return read
    .selectFrom("orders as o")
    .leftJoin("stops as s", (join) =>
      join.onRef("s.company_id", "=", "o.company_id").onRef("s.stop_nbr", "=", "o.order_nbr"),
    )
    .select("o.id")
    .where("o.company_id", "=", companyId)
    .where("o.order_nbr", "in", stopNbrs)
    .where("o.is_cancelled", "=", 0)
    .where("s.id", "is", null);
}

/** Whether something of the group is not over: its events are still to be told, or are a part of what goes out. */
export async function isStillNeeded(read: Reader, group: EventGroup): Promise<boolean> {
  const queries: readonly { executeTakeFirst(): Promise<unknown> }[] = [
    openStops(read, group).limit(1),
    openLoads(read, group).limit(1),
    keptCompletions(read, group).limit(1),
    ordersWithoutStop(read, group).limit(1),
  ];
  for (const query of queries) if ((await query.executeTakeFirst()) !== undefined) return true;
  return false;
}

export interface GroupEvents {
  readonly count: number;
  readonly oldestAt: number;
  readonly newestAt: number;
  readonly lastId: number;
}

/**
 * Only of lists that are not empty, each with the company: then an index serves each, and the planner does not read all of the
 * company's by another.
 */
function ofGroup({ companyId, stopNbrs, loadNbrs }: EventGroup) {
  return (eb: ExpressionBuilder<Tables, "recorded_events">) => {
    const ownAnd = (column: "stop_nbr" | "load_nbr", nbrs: readonly string[]) =>
      nbrs.length === 0 ? [] : [eb.and([eb("company_id", "=", companyId), eb(column, "in", nbrs)])];
    return eb.or([...ownAnd("stop_nbr", stopNbrs), ...ownAnd("load_nbr", loadNbrs)]);
  };
}

export async function countGroup(read: Reader, group: EventGroup): Promise<GroupEvents> {
  return await read
    .selectFrom("recorded_events")
    .where(ofGroup(group))
    .select(({ fn }) => [
      fn.countAll<number>().as("count"),
      fn.min("recorded_at").as("oldestAt"),
      fn.max("recorded_at").as("newestAt"),
      fn.max("id").as("lastId"),
    ])
    .executeTakeFirstOrThrow();
}

const prunedKey = "events_pruned";

/** By the id of the company, the newest event that was ever removed. */
type LastPruned = Readonly<Record<string, number>>;

/** Removes the events of groups; returns how many they were, group by group. */
export async function removeGroups(
  tx: Transaction,
  groups: readonly EventGroup[],
): Promise<readonly number[]> {
  const counts: number[] = [];
  const newest = new Map<number, number>();
  for (const group of groups) {
    const { count, lastId } = await countGroup(tx, group);
    counts.push(count);
    if (count === 0) continue;
    newest.set(group.companyId, Math.max(lastId, newest.get(group.companyId) ?? 0));
    await tx.deleteFrom("recorded_events").where(ofGroup(group)).execute();
  }
  await noteRemoved(tx, newest);
  return counts;
}

/** Notes the newest event that was removed of each company; see `isPositionKnown`. */
export async function noteRemoved(tx: Transaction, newest: ReadonlyMap<number, number>): Promise<void> {
  if (newest.size === 0) return;
  const last: Record<string, number> = { ...(await readNote<LastPruned>(tx, prunedKey)) };
  for (const [companyId, id] of newest) last[companyId] = Math.max(id, last[companyId] ?? 0);
  await writeMeta(tx, prunedKey, JSON.stringify(last));
}

export interface EventPosition {
  readonly companyId: number;
  readonly stopNbr?: string;
  readonly loadNbr?: string;
  readonly afterId: number;
}

/**
 * Whether all events of the stop or load after that one are still there: nothing as new as it was removed, or it is itself
 * there, as one of theirs.
 */
export async function isPositionKnown(
  read: Reader,
  { companyId, stopNbr, loadNbr, afterId }: EventPosition,
): Promise<boolean> {
  const pruned = await readNote<LastPruned>(read, prunedKey);
  if (afterId >= (pruned?.[companyId] ?? 0)) return true;
  let query = read
    .selectFrom("recorded_events")
    .select("id")
    .where("company_id", "=", companyId)
    .where("id", "=", afterId);
  if (stopNbr !== undefined) query = query.where("stop_nbr", "=", stopNbr);
  if (loadNbr !== undefined) query = query.where("load_nbr", "=", loadNbr);
  return (await query.executeTakeFirst()) !== undefined;
}
