/**
 * Stops as the service stores them: what the host sent, and their execution. Writes; reads for hosts are in
 * `stop-queries.ts`.
 */
import { cancelledStopStatus, type StopStatus } from "../../domain/stop/stop-status.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { namedArguments, namedColumns, type RowOf } from "../database/named-rows.ts";
import { excluded, prepareQuery } from "../database/prepared-query.ts";

/** A stop to be stored. `body` is the canonical stop, `routed` what route events need of it, both as JSON text. */
export interface StopRecord extends Omit<RowOf<"stops">, "id" | "stopStatus" | "stopNbrKey"> {
  readonly status: StopStatus;
}

type ReferenceValue = "shipmentNbr" | "sealNbr" | "bol" | "reference1" | "reference2";

/** What a transition needs of an existing stop. */
export type KnownStop = Omit<StopRecord, "companyId" | ReferenceValue | "body" | "routed" | "updatedAt">;

/** A stop, by its number in its company. */
export type StopKey = Pick<StopRecord, "companyId" | "stopNbr">;

/** The stop of that number in its company, in whatever state, or undefined. */
export const findKnownStop = prepareQuery<StopKey, KnownStop>((db, arg) =>
  db
    .selectFrom("stops")
    .select(["stop_nbr as stopNbr", "stop_status as status"])
    .select(namedColumns("receive_status", "receive_dttm", "carrier_code", "assignment_criteria"))
    .select(namedColumns("file_time", "load_id", "load_position", "listed_position", "stop_seq"))
    .select(namedColumns("created_at", "execution"))
    .where("company_id", "=", arg("companyId"))
    .where("stop_nbr", "=", arg("stopNbr")),
).find;

const saveStopQuery = prepareQuery<StopRecord & { readonly stopNbrKey: string }>(
  (db, arg) => {
    const sent = {
      stop_status: arg("status"),
      ...namedArguments(arg, "receive_status", "receive_dttm", "carrier_code", "assignment_criteria"),
      ...namedArguments(arg, "shipment_nbr", "seal_nbr", "bol", "reference1", "reference2", "body", "routed"),
      ...namedArguments(arg, "execution", "file_time", "load_id", "load_position", "listed_position"),
      ...namedArguments(arg, "stop_seq", "updated_at"),
    };
    return db
      .insertInto("stops")
      .values({ ...namedArguments(arg, "company_id", "stop_nbr", "stop_nbr_key", "created_at"), ...sent })
      .onConflict((conflict) => conflict.columns(["company_id", "stop_nbr"]).doUpdateSet(excluded(sent)));
  },
  { changesOwnRows: true },
);

/** Stores the stop, replacing what was stored of it before. */
export async function saveStop(tx: Transaction, record: StopRecord): Promise<void> {
  await saveStopQuery.run(tx, { ...record, stopNbrKey: record.stopNbr.toLowerCase() });
}

interface BodyChange {
  readonly id: number;
  readonly status: StopStatus;
  /** JSON: the canonical stop. */
  readonly body: string;
  /** JSON: what route events need of it. */
  readonly routed: string;
  readonly updatedAt: number;
}

/** Changes the body and state of a stop that is there. */
export const saveStopBody = prepareQuery<BodyChange>((db, arg) =>
  db
    .updateTable("stops")
    .set({ stop_status: arg("status"), ...namedArguments(arg, "body", "routed", "updated_at") })
    .where("id", "=", arg("id")),
).run;

/** The columns of a stop that is on no load. */
export const offLoad = { load_id: null, load_position: null, listed_position: null };

/**
 * Cancels the stop, off its load, unless it is cancelled already; returns whether it did. What the host sent is kept.
 */
export const cancelStop = prepareQuery<StopKey & Pick<StopRecord, "execution" | "fileTime" | "updatedAt">>(
  (db, arg) =>
    db
      .updateTable("stops")
      .set({ stop_status: cancelledStopStatus, ...offLoad })
      .set(namedArguments(arg, "execution", "file_time", "updated_at"))
      .where("company_id", "=", arg("companyId"))
      .where("stop_nbr", "=", arg("stopNbr"))
      .where("stop_status", "!=", cancelledStopStatus),
).changes;

type CarrierArguments = StopKey & Pick<StopRecord, "carrierCode" | "assignmentCriteria" | "updatedAt">;

/** Sets or clears the carrier of a stop. */
export const saveStopCarrier = prepareQuery<CarrierArguments>((db, arg) =>
  db
    .updateTable("stops")
    .set(namedArguments(arg, "carrier_code", "assignment_criteria", "updated_at"))
    .where("company_id", "=", arg("companyId"))
    .where("stop_nbr", "=", arg("stopNbr")),
).run;

const bodyOf = prepareQuery<StopKey, { body: string }>((db, arg) =>
  db
    .selectFrom("stops")
    .select("body")
    .where("company_id", "=", arg("companyId"))
    .where("stop_nbr", "=", arg("stopNbr")),
);

/** JSON: the canonical stop of that number, which exists. */
export async function readStopText(tx: Transaction, stop: StopKey): Promise<string> {
  const row = await bodyOf.find(tx, stop);
  if (row === undefined) throw new Error(`the stop ${stop.stopNbr} is gone`);
  return row.body;
}
