/** The stops on a load as route events see them: state, what the host sent, and execution. */
import { type Kysely, sql } from "kysely";
import { finalStopStatuses, type StopStatus } from "../../domain/stop/stop-status.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { namedArguments, namedColumns, type RowOf } from "../database/named-rows.ts";
import { prepareQuery } from "../database/prepared-query.ts";
import type { Tables } from "../database/schema.ts";
import type { StopKey } from "./stops.ts";

type PlaceValue = "id" | "loadId" | "loadPosition";

export interface RouteStop extends Pick<RowOf<"stops">, PlaceValue | "stopNbr" | "execution"> {
  readonly status: StopStatus;
  /** JSON: what route events need of the stop. */
  readonly routed: string;
}

function selectRouteStops(db: Kysely<Tables>) {
  return db
    .selectFrom("stops")
    .select([
      "stop_status as status",
      ...namedColumns("id", "stop_nbr", "load_id", "load_position", "execution"),
    ])
    .select((eb) => eb.fn.coalesce("routed", "body").as("routed"));
}

export const findRouteStop = prepareQuery<StopKey, RouteStop>((db, arg) =>
  selectRouteStops(db).where("company_id", "=", arg("companyId")).where("stop_nbr", "=", arg("stopNbr")),
).find;

const bodyById = prepareQuery<{ id: number }, { body: string }>((db, arg) =>
  db.selectFrom("stops").select("body").where("id", "=", arg("id")),
);

/** JSON: the canonical stop with that id, which exists. */
export async function readStopBody(tx: Transaction | Reader, id: number): Promise<string> {
  const body = await bodyById.first(tx, { id }, (row) => row.body);
  if (body === undefined) throw new Error(`the stop ${id} is gone`);
  return body;
}

/** Not ordered: SQLite would prepare the statement anew at each run, which takes ten times as long as the run. */
const pendingStops = prepareQuery<{ loadId: number; besideId: number }, RouteStop>((db, arg) =>
  selectRouteStops(db)
    .where("load_id", "=", arg("loadId"))
    .where(
      "stop_status",
      "not in",
      finalStopStatuses.map((status) => sql.lit<StopStatus>(status)),
    )
    .where("id", "!=", arg("besideId")),
);

/** Whether the one comes before the other on their load: below 0 when it does. */
export function byPosition(one: RouteStop, other: RouteStop): number {
  return (one.loadPosition ?? -1) - (other.loadPosition ?? -1) || one.id - other.id;
}

/** The stops of the load that are not final, in the order of their visits; without the one of `besideId`. */
export async function listPendingStops(
  tx: Transaction,
  loadId: number,
  besideId = 0,
): Promise<readonly RouteStop[]> {
  return (await pendingStops.rows(tx, { loadId, besideId })).sort(byPosition);
}

const stopStates = prepareQuery<{ loadId: number }, { stop_status: StopStatus }>((db, arg) =>
  db.selectFrom("stops").select("stop_status").where("load_id", "=", arg("loadId")),
);

/** The state of every stop on the load. */
export async function listStopStates(tx: Transaction, loadId: number): Promise<readonly StopStatus[]> {
  return (await stopStates.rows(tx, { loadId })).map(({ stop_status }) => stop_status);
}

interface ExecutionArguments extends Pick<RouteStop, "id" | "status" | "execution"> {
  readonly updatedAt: number;
}

/** Changes state and execution of an existing stop. */
export const saveStopExecution = prepareQuery<ExecutionArguments>(
  (db, arg) =>
    db
      .updateTable("stops")
      .set({ stop_status: arg("status"), ...namedArguments(arg, "execution", "updated_at") })
      .where("id", "=", arg("id")),
  { changesOwnRows: true },
).run;
