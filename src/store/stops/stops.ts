/**
 * Stops as the service stores them: what the host sent, and their execution. Writes; reads for hosts are in
 * `stop-queries.ts`.
 */
import { cancelledStopStatus, type StopStatus } from "../../domain/stop/stop-status.ts";
import type { Transaction } from "../database/group-commit.ts";
import { prepareQuery } from "../database/prepared-query.ts";

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

interface StopKey {
  readonly companyId: number;
  readonly stopNbr: string;
}

interface KnownRow {
  stop_status: string;
  receive_status: string;
  receive_dttm: string | null;
  carrier_code: string | null;
  assignment_criteria: string | null;
  file_time: number | null;
  load_id: number | null;
  load_position: number | null;
  listed_position: number | null;
  stop_seq: number | null;
  created_at: number;
  execution: string;
}

const knownStop = prepareQuery<StopKey, KnownRow>((db, arg) =>
  db
    .selectFrom("stops")
    .select([
      "stop_status",
      "receive_status",
      "receive_dttm",
      "carrier_code",
      "assignment_criteria",
      "file_time",
      "load_id",
      "load_position",
      "listed_position",
      "stop_seq",
      "created_at",
      "execution",
    ])
    .where("company_id", "=", arg("companyId"))
    .where("stop_nbr", "=", arg("stopNbr")),
);

/** The stop of that number in its company, in whatever state, or undefined. */
export async function findKnownStop(
  tx: Transaction,
  companyId: number,
  stopNbr: string,
): Promise<KnownStop | undefined> {
  const { rows } = await knownStop.run(tx, { companyId, stopNbr });
  const row = rows[0];
  if (row === undefined) return undefined;
  return {
    stopNbr,
    status: row.stop_status as StopStatus,
    receiveStatus: row.receive_status === "10" ? "10" : "00",
    receiveDttm: row.receive_dttm,
    carrierCode: row.carrier_code,
    assignmentCriteria: row.assignment_criteria,
    fileTime: row.file_time,
    loadId: row.load_id,
    loadPosition: row.load_position,
    listedPosition: row.listed_position,
    stopSeq: row.stop_seq,
    createdAt: row.created_at,
    execution: row.execution,
  };
}

interface StopArguments extends StopRecord {
  readonly stopNbrKey: string;
}

const saveStopQuery = prepareQuery<StopArguments>((db, arg) =>
  db
    .insertInto("stops")
    .values({
      company_id: arg("companyId"),
      stop_nbr: arg("stopNbr"),
      stop_nbr_key: arg("stopNbrKey"),
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
      created_at: arg("createdAt"),
      updated_at: arg("updatedAt"),
    })
    .onConflict((conflict) =>
      conflict.columns(["company_id", "stop_nbr"]).doUpdateSet((set) => ({
        stop_status: set.ref("excluded.stop_status"),
        receive_status: set.ref("excluded.receive_status"),
        receive_dttm: set.ref("excluded.receive_dttm"),
        carrier_code: set.ref("excluded.carrier_code"),
        assignment_criteria: set.ref("excluded.assignment_criteria"),
        shipment_nbr: set.ref("excluded.shipment_nbr"),
        seal_nbr: set.ref("excluded.seal_nbr"),
        bol: set.ref("excluded.bol"),
        reference1: set.ref("excluded.reference1"),
        reference2: set.ref("excluded.reference2"),
        body: set.ref("excluded.body"),
        routed: set.ref("excluded.routed"),
        execution: set.ref("excluded.execution"),
        file_time: set.ref("excluded.file_time"),
        load_id: set.ref("excluded.load_id"),
        load_position: set.ref("excluded.load_position"),
        listed_position: set.ref("excluded.listed_position"),
        stop_seq: set.ref("excluded.stop_seq"),
        updated_at: set.ref("excluded.updated_at"),
      })),
    ),
);

/** Stores the stop, replacing what was stored of it before. */
export async function saveStop(tx: Transaction, record: StopRecord): Promise<void> {
  await saveStopQuery.run(tx, { ...record, stopNbrKey: record.stopNbr.toLowerCase() });
}

interface CancelArguments extends StopKey {
  readonly execution: string;
  readonly fileTime: number | null;
  readonly updatedAt: number;
}

const cancelStopQuery = prepareQuery<CancelArguments>((db, arg) =>
  db
    .updateTable("stops")
    .set({
      stop_status: cancelledStopStatus,
      execution: arg("execution"),
      file_time: arg("fileTime"),
      load_id: null,
      load_position: null,
      listed_position: null,
      updated_at: arg("updatedAt"),
    })
    .where("company_id", "=", arg("companyId"))
    .where("stop_nbr", "=", arg("stopNbr"))
    .where("stop_status", "!=", cancelledStopStatus),
);

/**
 * Cancels the stop, off its load, unless it is cancelled already; returns whether it did. What the host sent is kept.
 */
export async function cancelStop(tx: Transaction, args: CancelArguments): Promise<boolean> {
  const { affected } = await cancelStopQuery.run(tx, args);
  return affected === 1;
}

interface CarrierArguments extends StopKey {
  readonly carrierCode: string | null;
  readonly assignmentCriteria: string | null;
  readonly updatedAt: number;
}

const saveCarrierQuery = prepareQuery<CarrierArguments>((db, arg) =>
  db
    .updateTable("stops")
    .set({
      carrier_code: arg("carrierCode"),
      assignment_criteria: arg("assignmentCriteria"),
      updated_at: arg("updatedAt"),
    })
    .where("company_id", "=", arg("companyId"))
    .where("stop_nbr", "=", arg("stopNbr")),
);

/** Sets or clears the carrier of a stop. */
export async function saveStopCarrier(tx: Transaction, change: CarrierArguments): Promise<void> {
  await saveCarrierQuery.run(tx, change);
}

const bodyOf = prepareQuery<StopKey, { body: string }>((db, arg) =>
  db
    .selectFrom("stops")
    .select("body")
    .where("company_id", "=", arg("companyId"))
    .where("stop_nbr", "=", arg("stopNbr")),
);

/** JSON: the canonical stop of that number, which exists. */
export async function readStopText(tx: Transaction, companyId: number, stopNbr: string): Promise<string> {
  const [row] = (await bodyOf.run(tx, { companyId, stopNbr })).rows;
  if (row === undefined) throw new Error(`the stop ${stopNbr} is gone`);
  return row.body;
}
