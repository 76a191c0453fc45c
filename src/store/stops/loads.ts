/**
 * Loads as the service stores them: what the host sent, and their execution. Reads for hosts are in `load-queries.ts`.
 */
import type { LoadStatus } from "../../domain/load/load-status.ts";
import { unplannedStopStatus } from "../../domain/stop/stop-status.ts";
import type { ListedStop } from "../../domain/stop/visit-order.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/group-commit.ts";
import { excluded, prepareQuery } from "../database/prepared-query.ts";
import { offLoad, type StopKey } from "./stops.ts";

/** Who carries and drives a load. */
export interface LoadAssignmentRecord {
  readonly carrierCode: string | null;
  readonly assignmentCriteria: string | null;
  readonly driverUserId: number | null;
  /** JSON: the driver as the load shows it; `{}` without one. */
  readonly driver: string;
}

/** What a transition needs of an existing load. */
export interface KnownLoad extends LoadAssignmentRecord {
  readonly id: number;
  readonly loadNbr: string;
  readonly status: LoadStatus;
  readonly execution: string;
  /** JSON: `load` and `assignment`, what the host sent beyond the header, as it came. */
  readonly extra: string;
  readonly createdAt: number;
}

export interface LoadRow {
  id: number;
  load_nbr: string;
  load_status: number;
  carrier_code: string | null;
  assignment_criteria: string | null;
  driver_user_id: number | null;
  driver: string;
  execution: string;
  extra: string;
  created_at: number;
}

export const knownLoadColumns = [
  "id",
  "load_nbr",
  "load_status",
  "carrier_code",
  "assignment_criteria",
  "driver_user_id",
  "driver",
  "execution",
  "extra",
  "created_at",
] as const;

export function knownLoad(row: LoadRow): KnownLoad {
  return {
    id: row.id,
    loadNbr: row.load_nbr,
    status: row.load_status as LoadStatus,
    carrierCode: row.carrier_code,
    assignmentCriteria: row.assignment_criteria,
    driverUserId: row.driver_user_id,
    driver: row.driver,
    execution: row.execution,
    extra: row.extra,
    createdAt: row.created_at,
  };
}

const loadByNumber = prepareQuery<{ companyId: number; loadNbr: string }, LoadRow>((db, arg) =>
  db
    .selectFrom("loads")
    .select(knownLoadColumns)
    .where("company_id", "=", arg("companyId"))
    .where("load_nbr", "=", arg("loadNbr")),
);

const loadById = prepareQuery<{ id: number }, LoadRow>((db, arg) =>
  db.selectFrom("loads").select(knownLoadColumns).where("id", "=", arg("id")),
);

/** The load of exactly that number in its company, in whatever state, or undefined. */
export function findKnownLoad(
  tx: Transaction | Reader,
  companyId: number,
  loadNbr: string,
): Promise<KnownLoad | undefined> {
  return loadByNumber.first(tx, { companyId, loadNbr }, knownLoad);
}

export function findLoadById(tx: Transaction | Reader, id: number): Promise<KnownLoad | undefined> {
  return loadById.first(tx, { id }, knownLoad);
}

/** The load of a stop, as files and messages show it. */
export interface DrivenLoad {
  readonly loadNbr: string | null;
  /** JSON: the driver; `{}` without one. */
  readonly driver: string;
}

const drivenLoadById = prepareQuery<{ id: number }, DrivenLoad>((db, arg) =>
  db.selectFrom("loads").select(["load_nbr as loadNbr", "driver"]).where("id", "=", arg("id")),
);

/** The load that a stop is on, without number and driver when it is on none. */
export async function findDrivenLoad(tx: Transaction, loadId: number | null): Promise<DrivenLoad> {
  const found = loadId === null ? undefined : await drivenLoadById.find(tx, { id: loadId });
  return found ?? { loadNbr: null, driver: "{}" };
}

/** A load to be stored. `body` is its header as JSON text. */
export interface LoadRecord extends LoadAssignmentRecord {
  readonly companyId: number;
  readonly loadNbr: string;
  readonly status: LoadStatus;
  readonly reference: string | null;
  readonly sealNbr: string | null;
  readonly body: string;
  readonly execution: string;
  readonly extra: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

const saveLoadQuery = prepareQuery<LoadRecord, { id: number }>((db, arg) => {
  const sent = {
    load_status: arg("status"),
    carrier_code: arg("carrierCode"),
    assignment_criteria: arg("assignmentCriteria"),
    driver_user_id: arg("driverUserId"),
    driver: arg("driver"),
    reference: arg("reference"),
    seal_nbr: arg("sealNbr"),
    body: arg("body"),
    execution: arg("execution"),
    extra: arg("extra"),
    updated_at: arg("updatedAt"),
  };
  return db
    .insertInto("loads")
    .values({ company_id: arg("companyId"), load_nbr: arg("loadNbr"), ...sent, created_at: arg("createdAt") })
    .onConflict((conflict) => conflict.columns(["company_id", "load_nbr"]).doUpdateSet(excluded(sent)))
    .returning("id");
});

/** Stores the load, replacing what was stored of it before; returns its id. */
export async function saveLoad(tx: Transaction, record: LoadRecord): Promise<number> {
  const [row] = await saveLoadQuery.rows(tx, record);
  if (row === undefined) throw new Error(`load ${record.loadNbr} was not kept`);
  return row.id;
}

interface LoadStateChange {
  readonly id: number;
  readonly status: LoadStatus;
  readonly execution: string;
  readonly updatedAt: number;
}

/** Changes state and execution of an existing load; without the assignment, whose index and foreign key cost time. */
export const updateLoadState = prepareQuery<LoadStateChange>((db, arg) =>
  db
    .updateTable("loads")
    .set({ load_status: arg("status"), execution: arg("execution"), updated_at: arg("updatedAt") })
    .where("id", "=", arg("id")),
).run;

/** Changes state, assignment and execution of an existing load. */
export const updateLoad = prepareQuery<LoadStateChange & LoadAssignmentRecord>((db, arg) =>
  db
    .updateTable("loads")
    .set({
      load_status: arg("status"),
      carrier_code: arg("carrierCode"),
      assignment_criteria: arg("assignmentCriteria"),
      driver_user_id: arg("driverUserId"),
      driver: arg("driver"),
      execution: arg("execution"),
      updated_at: arg("updatedAt"),
    })
    .where("id", "=", arg("id")),
).run;

/** The numbers of the stops on a load, in its order. */
export async function stopNumbersOf(tx: Transaction | Reader, loadId: number): Promise<readonly string[]> {
  const rows = await tx
    .selectFrom("stops")
    .select("stop_nbr")
    .where("load_id", "=", loadId)
    .orderBy("load_position")
    .execute();
  return rows.map((row) => row.stop_nbr);
}

/** Takes all stops off the load and makes them unplanned (10). */
export async function releaseAllStops(
  tx: Transaction,
  release: { readonly loadId: number; readonly now: number },
): Promise<void> {
  await tx
    .updateTable("stops")
    .set({ stop_status: unplannedStopStatus, ...offLoad, updated_at: release.now })
    .where("load_id", "=", release.loadId)
    .execute();
}

/** Takes one stop off the load it is on and makes it unplanned (10). */
export const releaseStop = prepareQuery<StopKey & { readonly now: number }>((db, arg) =>
  db
    .updateTable("stops")
    .set({ stop_status: unplannedStopStatus, ...offLoad, updated_at: arg("now") })
    .where("company_id", "=", arg("companyId"))
    .where("stop_nbr", "=", arg("stopNbr")),
).run;

const listedStops = prepareQuery<{ loadId: number }, PlacedRow>((db, arg) =>
  db
    .selectFrom("stops")
    .select(["id", "load_position", "listed_position", "stop_seq"])
    .where("load_id", "=", arg("loadId")),
);

interface PlacedRow {
  id: number;
  load_position: number | null;
  listed_position: number | null;
  stop_seq: number | null;
}

/** A stop of a load with the place that it has now. */
export interface PlacedStop extends ListedStop {
  readonly loadPosition: number;
}

/** The stops on a load, in no order. */
export async function listPlacedStops(tx: Transaction, loadId: number): Promise<readonly PlacedStop[]> {
  return (await listedStops.rows(tx, { loadId })).map((row) => {
    const loadPosition = row.load_position ?? -1;
    const listedPosition = row.listed_position ?? loadPosition;
    return { id: row.id, loadPosition, listedPosition, stopSeq: row.stop_seq };
  });
}

/** Gives a stop its place among those of its load. */
export const saveLoadPosition = prepareQuery<{ id: number; loadPosition: number }>((db, arg) =>
  db
    .updateTable("stops")
    .set({ load_position: arg("loadPosition") })
    .where("id", "=", arg("id")),
).run;
