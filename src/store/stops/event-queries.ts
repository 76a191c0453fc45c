/** Recorded events for hosts. Writes are in `recorded-events.ts`. */
import type { DocumentObject } from "../../domain/documents/document-object.ts";
import { recordedEvents, schedulingEventCodes } from "../../domain/outbound/recorded-events.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/group-commit.ts";
import { prepareQuery } from "../database/prepared-query.ts";

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

export interface StoredEvent {
  readonly id: number;
  readonly code: number;
  readonly stopNbr: string | null;
  readonly loadNbr: string | null;
  readonly recordedAt: number;
  /** JSON: what else is known of the event. */
  readonly data: string;
}

/** The events in the order in which they were recorded. */
export async function listEvents(read: Reader, selection: EventSelection): Promise<readonly StoredEvent[]> {
  const { stopNbr, loadNbr, afterId, from } = selection;
  let query = read
    .selectFrom("recorded_events")
    .select(["id", "event_code", "stop_nbr", "load_nbr", "recorded_at", "data"])
    .where("company_id", "=", selection.companyId);
  if (stopNbr !== undefined) query = query.where("stop_nbr", "=", stopNbr);
  if (loadNbr !== undefined) query = query.where("load_nbr", "=", loadNbr);
  if (afterId !== undefined) query = query.where("id", ">", afterId);
  if (from !== undefined) query = query.where("recorded_at", ">=", from);
  const rows = await query.orderBy("id").limit(selection.limit).execute();
  return rows.map((row) => ({
    id: row.id,
    code: row.event_code,
    stopNbr: row.stop_nbr,
    loadNbr: row.load_nbr,
    recordedAt: row.recorded_at,
    data: row.data,
  }));
}

/** The documents that events 7014 of the stop on the load have told of, as they told of them. */
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

const schedulingEventQuery = prepareQuery<{ companyId: number; stopNbr: string }, { event_code: number }>(
  (db, arg) =>
    db
      .selectFrom("recorded_events")
      .select("event_code")
      .where("company_id", "=", arg("companyId"))
      .where("stop_nbr", "=", arg("stopNbr"))
      .where("event_code", "in", schedulingEventCodes)
      .orderBy("id", "desc")
      .limit(1),
);

/** The code of the last event that tells where the scheduling of a stop stands. */
export async function findLastSchedulingEvent(
  read: Reader | Transaction,
  companyId: number,
  stopNbr: string,
): Promise<number | undefined> {
  return (await schedulingEventQuery.run(read, { companyId, stopNbr })).rows[0]?.event_code;
}
