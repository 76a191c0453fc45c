/** Recorded events as rows; their consequences are in `operations/consequences`. */
import type { DocumentObject } from "../../domain/documents/document-object.ts";
import { recordedEvents, schedulingEventCodes } from "../../domain/outbound/recorded-events.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { namedArguments, namedColumns, type RowOf } from "../database/named-rows.ts";
import { prepareQuery } from "../database/prepared-query.ts";
import type { StopKey } from "./stops.ts";

export interface EventRecord extends Omit<RowOf<"recorded_events">, "id" | "eventCode"> {
  readonly code: number;
}

/** Stores an event after all others. */
export const insertRecordedEvent = prepareQuery<EventRecord>(
  (db, arg) =>
    db.insertInto("recorded_events").values({
      event_code: arg("code"),
      ...namedArguments(arg, "company_id", "stop_nbr", "load_nbr", "recorded_at", "data"),
    }),
  { changesOwnRows: true },
).run;

/** An event by its place among all. */
interface EventPlace {
  readonly id: number;
  readonly code: number;
}

/** The events of a stop, in no order: with one, SQLite would prepare the statement anew at each run. */
export const listEventPlaces = prepareQuery<StopKey, EventPlace>((db, arg) =>
  db
    .selectFrom("recorded_events")
    .select(["id", "event_code as code"])
    .where("company_id", "=", arg("companyId"))
    .where("stop_nbr", "=", arg("stopNbr")),
).rows;

export interface EventSelection {
  readonly companyId: number;
  readonly stopNbr?: string;
  readonly loadNbr?: string;
  /** Only events after the one of this id. */
  readonly afterId?: number;
  /** Only events recorded at this time or later, milliseconds UTC. */
  readonly from?: number;
  readonly limit: number;
}

export interface StoredEvent extends Omit<EventRecord, "companyId"> {
  readonly id: number;
}

/** The events in the order in which they were recorded. */
export async function listEvents(read: Reader, selection: EventSelection): Promise<readonly StoredEvent[]> {
  const { stopNbr, loadNbr, afterId, from } = selection;
  let query = read
    .selectFrom("recorded_events")
    .select(["id", "event_code as code", ...namedColumns("stop_nbr", "load_nbr", "recorded_at", "data")])
    .where("company_id", "=", selection.companyId);
  if (stopNbr !== undefined) query = query.where("stop_nbr", "=", stopNbr);
  if (loadNbr !== undefined) query = query.where("load_nbr", "=", loadNbr);
  if (afterId !== undefined) query = query.where("id", ">", afterId);
  if (from !== undefined) query = query.where("recorded_at", ">=", from);
  return await query.orderBy("id").limit(selection.limit).execute();
}

/** The documents of the events 7014 of the stop on the load, as these have them. */
export async function listToldDocuments(
  tx: Transaction,
  of: { readonly companyId: number; readonly stopNbr: string; readonly loadNbr: string },
): Promise<readonly DocumentObject[]> {
  const rows = await tx
    .selectFrom("recorded_events")
    .select("data")
    .where("company_id", "=", of.companyId)
    .where("stop_nbr", "=", of.stopNbr)
    .where("load_nbr", "=", of.loadNbr)
    .where("event_code", "=", recordedEvents.documentCapture.code)
    .execute();
  return rows.flatMap(
    ({ data }) => (JSON.parse(data) as { readonly documents?: DocumentObject[] }).documents ?? [],
  );
}

/** The last event that says how far the scheduling of a stop has come. */
export const findLastSchedulingEvent = prepareQuery<StopKey, { readonly code: number }>((db, arg) =>
  db
    .selectFrom("recorded_events")
    .select("event_code as code")
    .where("company_id", "=", arg("companyId"))
    .where("stop_nbr", "=", arg("stopNbr"))
    .where("event_code", "in", schedulingEventCodes)
    .orderBy("id", "desc")
    .limit(1),
).find;
