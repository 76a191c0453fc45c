/**
 * Loads as the service stores them: what the host sent, and their execution. Reads for hosts are in `load-queries.ts`.
 */
import type { LoadStatus } from "../../domain/load/load-status.ts";
import { unplannedStopStatus } from "../../domain/stop/stop-status.ts";
import type { ListedStop } from "../../domain/stop/visit-order.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { namedArguments, namedColumns, type RowOf } from "../database/named-rows.ts";
import { excluded, prepareQuery } from "../database/prepared-query.ts";
import { offLoad, type StopKey } from "./stops.ts";

/** A load to be stored; `body`, `execution` and `extra` as their columns say. */
export interface LoadRecord extends Omit<RowOf<"loads">, "id" | "loadStatus"> {
  readonly status: LoadStatus;
}

/** Who carries and drives a load. `driver`: JSON, as the load shows it; `{}` without one. */
export type LoadAssignmentRecord = Pick<
  LoadRecord,
  "carrierCode" | "assignmentCriteria" | "driverUserId" | "driver"
>;

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

const saveLoadQuery = prepareQuery<LoadRecord, { id: number }>((db, arg) => {
  const sent = {
    load_status: arg("status"),
    ...namedArguments(arg, "carrier_code", "assignment_criteria", "driver_user_id", "driver", "reference"),
    ...namedArguments(arg, "seal_nbr", "body", "execution", "extra", "updated_at"),
  };
  return db
    .insertInto("loads")
    .values({ ...namedArguments(arg, "company_id", "load_nbr", "created_at"), ...sent })
    .onConflict((conflict) => conflict.columns(["company_id", "load_nbr"]).doUpdateSet(excluded(sent)))
    .returning("id");
});

/** Stores the load, replacing what was stored of it before; returns its id. */
export async function saveLoad(tx: Transaction, record: LoadRecord): Promise<number> {
  const [row] = await saveLoadQuery.rows(tx, record);
  if (row === undefined) throw new Error(`load ${record.loadNbr} was not kept`);
  return row.id;
}

interface LoadStateChange extends Pick<LoadRecord, "status" | "execution" | "updatedAt"> {
  readonly id: number;
}

/** Changes state and execution of an existing load; without the assignment, whose index and foreign key cost time. */
export const updateLoadState = prepareQuery<LoadStateChange>(
  (db, arg) =>
    db
      .updateTable("loads")
      .set({ load_status: arg("status"), ...namedArguments(arg, "execution", "updated_at") })
      .where("id", "=", arg("id")),
  { changesOwnRows: true },
).run;

/** Changes state, assignment and execution of an existing load. */
export const updateLoad = prepareQuery<LoadStateChange & LoadAssignmentRecord>((db, arg) =>
  db
    .updateTable("loads")
    .set({ load_status: arg("status"), ...namedArguments(arg, "execution", "updated_at") })
    .set(namedArguments(arg, "carrier_code", "assignment_criteria", "driver_user_id", "driver"))
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

type PlaceValue = "id" | "loadPosition" | "listedPosition" | "stopSeq";

const listedStops = prepareQuery<{ loadId: number }, Pick<RowOf<"stops">, PlaceValue>>((db, arg) =>
  db
    .selectFrom("stops")
    .select(namedColumns("id", "load_position", "listed_position", "stop_seq"))
    .where("load_id", "=", arg("loadId")),
);

/** A stop of a load with the place that it has now. */
export interface PlacedStop extends ListedStop {
  readonly loadPosition: number;
}

/** The stops on a load, in no order. */
export async function listPlacedStops(tx: Transaction, loadId: number): Promise<readonly PlacedStop[]> {
  return (await listedStops.rows(tx, { loadId })).map((row) => {
    const loadPosition = row.loadPosition ?? -1;
    return { ...row, loadPosition, listedPosition: row.listedPosition ?? loadPosition };
  });
}

/** Gives a stop its place among those of its load. */
export const saveLoadPosition = prepareQuery<{ id: number; loadPosition: number }>((db, arg) =>
  db
    .updateTable("stops")
    .set({ load_position: arg("loadPosition") })
    .where("id", "=", arg("id")),
).run;
