/**
 * Groups of events with so many stops and loads that they do not go in one unit of work (event-retention.ts): listed part by
 * part, and removed some events at a time, in the order of their ids.
 */
import { sql } from "kysely";
import { unindexed } from "../database/dialects/sql-forms.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { namedColumns, type RowOf } from "../database/named-rows.ts";
import { type EventGroup, noteRemoved } from "./event-retention.ts";

export type GroupEvent = Pick<RowOf<"recorded_events">, "id" | "recordedAt">;

/** The id of the newest event of all; 0 when there is none. */
export async function findLastEventId(read: Reader): Promise<number> {
  const row = await read
    .selectFrom("recorded_events")
    .select("id")
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.id ?? 0;
}

/**
 * The events of the stops, and those of the loads that are of no stop. All parts of a group together are all of its events,
 * each once: whoever has an event with a load in the group has its stop there too.
 */
export async function listGroupEvents(
  read: Reader,
  { companyId, stopNbrs, loadNbrs }: EventGroup,
): Promise<readonly GroupEvent[]> {
  const events = read
    .selectFrom("recorded_events")
    .select(namedColumns("id", "recorded_at"))
    .where("company_id", "=", companyId);
  const ofStops = events.where("stop_nbr", "in", stopNbrs);
  const ofLoads = events.where("load_nbr", "in", loadNbrs).where(sql<boolean>`${unindexed}stop_nbr is null`);
  return [
    ...(stopNbrs.length === 0 ? [] : await ofStops.execute()),
    ...(loadNbrs.length === 0 ? [] : await ofLoads.execute()),
  ];
}

function membersOf(
  companyId: number,
  rows: readonly { readonly stopNbr: string | null; readonly loadNbr: string | null }[],
): EventGroup {
  const different = (nbrs: readonly (string | null)[]) => [
    ...new Set(nbrs.filter((nbr): nbr is string => nbr !== null)),
  ];
  return {
    companyId,
    stopNbrs: different(rows.map(({ stopNbr }) => stopNbr)),
    loadNbrs: different(rows.map(({ loadNbr }) => loadNbr)),
  };
}

/** The stops and loads of some events of a company. */
export async function findMembers(
  read: Reader,
  companyId: number,
  ids: readonly number[],
): Promise<EventGroup> {
  const rows = await read
    .selectFrom("recorded_events")
    .select(namedColumns("stop_nbr", "load_nbr"))
    .where("id", "in", ids)
    .execute();
  return membersOf(companyId, rows);
}

/** The stops and loads of the company of which something was recorded after an event. */
export async function findMembersSince(
  read: Reader,
  companyId: number,
  afterId: number,
): Promise<EventGroup> {
  const rows = await read
    .selectFrom("recorded_events")
    .select(namedColumns("stop_nbr", "load_nbr"))
    .where("id", ">", afterId)
    // Few are so new: the index of the company would give all of its events.
    .where(sql<boolean>`${unindexed}company_id = ${companyId}`)
    .execute();
  return membersOf(companyId, rows);
}

/** Removes events of a company by their ids, and notes that they are gone; gives how many they were. */
export async function removeEvents(
  tx: Transaction,
  companyId: number,
  ids: readonly number[],
): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom("recorded_events")
    .where("id", "in", ids)
    .where(sql<boolean>`${unindexed}company_id = ${companyId}`)
    .executeTakeFirst();
  await noteRemoved(tx, new Map([[companyId, Math.max(...ids)]]));
  return Number(numDeletedRows);
}
