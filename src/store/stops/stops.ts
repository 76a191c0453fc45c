/**
 * Stops as the service stores them: what the host sent, and their execution. Writes; reads for hosts are in
 * `stop-queries.ts`.
 */
import { cancelledStopStatus, type StopStatus } from "../../domain/stop/stop-status.ts";
import type { Transaction } from "../database/group-commit.ts";
import { namedColumns } from "../database/named-rows.ts";
import { excluded, prepareQuery } from "../database/prepared-query.ts";

/** What a transition needs of an existing stop. */
export interface KnownStop {
  readonly stopNbr: string;
  readonly status: StopStatus;
  readonly receiveStatus: "00" | "10";
  readonly receiveDttm: string | null;
  readonly carrierCode: string | null;
  readonly assignmentCriteria: string | null;
  readonly fileTime: number | null;
  /** The load that the stop is on, and its place on it. */
  readonly loadId: number | null;
  readonly loadPosition: number | null;
  /** Its place in the list of the load import. */
  readonly listedPosition: number | null;
  /** `stopSeq` where it is a number. */
  readonly stopSeq: number | null;
  readonly createdAt: number;
  readonly execution: string;
}

/** A stop to be stored. `body` is the canonical stop as JSON text. */
export interface StopRecord extends KnownStop {
  readonly companyId: number;
  readonly shipmentNbr: string | null;
  readonly sealNbr: string | null;
  readonly bol: string | null;
  readonly reference1: string | null;
  readonly reference2: string | null;
  readonly body: string;
  /** JSON: the part that route events need; null: read the body. */
  readonly routed: string | null;
  readonly updatedAt: number;
}

/** A stop, by its number in its company. */
export interface StopKey {
  readonly companyId: number;
  readonly stopNbr: string;
}

const knownStop = prepareQuery<StopKey, KnownStop>((db, arg) =>
  db
    .selectFrom("stops")
    .select(["stop_nbr as stopNbr", "stop_status as status"])
    .select(namedColumns("receive_status", "receive_dttm", "carrier_code", "assignment_criteria"))
    .select(namedColumns("file_time", "load_id", "load_position", "listed_position", "stop_seq"))
    .select(namedColumns("created_at", "execution"))
    .where("company_id", "=", arg("companyId"))
    .where("stop_nbr", "=", arg("stopNbr")),
);

/** The stop of that number in its company, in whatever state, or undefined. */
export function findKnownStop(
  tx: Transaction,
  companyId: number,
  stopNbr: string,
): Promise<KnownStop | undefined> {
  return knownStop.find(tx, { companyId, stopNbr });
}

interface StopArguments extends StopRecord {
  readonly stopNbrKey: string;
}

const saveStopQuery = prepareQuery<StopArguments>((db, arg) => {
  const sent = {
    stop_status: arg("status"),
    receive_status: arg("receiveStatus"),
    receive_dttm: arg("receiveDttm"),
    carrier_code: arg("carrierCode"),
    assignment_criteria: arg("assignmentCriteria"),
    shipment_nbr: arg("shipmentNbr"),
    seal_nbr: arg("sealNbr"),
    bol: arg("bol"),
    reference1: arg("reference1"),
    reference2: arg("reference2"),
    body: arg("body"),
    routed: arg("routed"),
    execution: arg("execution"),
    file_time: arg("fileTime"),
    load_id: arg("loadId"),
    load_position: arg("loadPosition"),
    listed_position: arg("listedPosition"),
    stop_seq: arg("stopSeq"),
    updated_at: arg("updatedAt"),
  };
  const key = { company_id: arg("companyId"), stop_nbr: arg("stopNbr"), stop_nbr_key: arg("stopNbrKey") };
  return db
    .insertInto("stops")
    .values({ ...key, ...sent, created_at: arg("createdAt") })
    .onConflict((conflict) => conflict.columns(["company_id", "stop_nbr"]).doUpdateSet(excluded(sent)));
});

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
  readonly now: number;
}

/** Changes the body and state of a stop that is there. */
export const saveStopBody = prepareQuery<BodyChange>((db, arg) =>
  db
    .updateTable("stops")
    .set({
      stop_status: arg("status"),
      body: arg("body"),
      routed: arg("routed"),
      updated_at: arg("now"),
    })
    .where("id", "=", arg("id")),
).run;

/** The columns of a stop that is on no load. */
export const offLoad = { load_id: null, load_position: null, listed_position: null };

interface CancelArguments extends StopKey {
  readonly execution: string;
  readonly fileTime: number | null;
  readonly updatedAt: number;
}

/**
 * Cancels the stop, off its load, unless it is cancelled already; returns whether it did. What the host sent is kept.
 */
export const cancelStop = prepareQuery<CancelArguments>((db, arg) =>
  db
    .updateTable("stops")
    .set({
      stop_status: cancelledStopStatus,
      execution: arg("execution"),
      file_time: arg("fileTime"),
      ...offLoad,
      updated_at: arg("updatedAt"),
    })
    .where("company_id", "=", arg("companyId"))
    .where("stop_nbr", "=", arg("stopNbr"))
    .where("stop_status", "!=", cancelledStopStatus),
).changes;

interface CarrierArguments extends StopKey {
  readonly carrierCode: string | null;
  readonly assignmentCriteria: string | null;
  readonly updatedAt: number;
}

/** Sets or clears the carrier of a stop. */
export const saveStopCarrier = prepareQuery<CarrierArguments>((db, arg) =>
  db
    .updateTable("stops")
    .set({
      carrier_code: arg("carrierCode"),
      assignment_criteria: arg("assignmentCriteria"),
      updated_at: arg("updatedAt"),
    })
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
export async function readStopText(tx: Transaction, companyId: number, stopNbr: string): Promise<string> {
  const row = await bodyOf.find(tx, { companyId, stopNbr });
  if (row === undefined) throw new Error(`the stop ${stopNbr} is gone`);
  return row.body;
}
