/** The stops on a load as route events see them: state, what the host sent, and execution. */
import { type ExpressionBuilder, sql } from "kysely";
import { finalStopStatuses, type StopStatus } from "../../domain/stop/stop-status.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/group-commit.ts";
import { prepareQuery } from "../database/prepared-query.ts";
import type { Tables } from "../database/schema.ts";

export interface RouteStop {
  readonly id: number;
  readonly stopNbr: string;
  readonly status: StopStatus;
  readonly loadId: number | null;
  /** Its place among the stops of its load. */
  readonly loadPosition: number | null;
  /** JSON: what route events need of the stop. */
  readonly routed: string;
  readonly execution: string;
}

interface RouteStopRow {
  id: number;
  stop_nbr: string;
  stop_status: string;
  load_id: number | null;
  load_position: number | null;
  routed: string;
  execution: string;
}

const columns = ["id", "stop_nbr", "stop_status", "load_id", "load_position", "execution"] as const;

function routedOrBody(eb: ExpressionBuilder<Tables, "stops">) {
  return eb.fn.coalesce("routed", "body").as("routed");
}

function routeStop(row: RouteStopRow): RouteStop {
  return {
    id: row.id,
    stopNbr: row.stop_nbr,
    status: row.stop_status as StopStatus,
    loadId: row.load_id,
    loadPosition: row.load_position,
    routed: row.routed,
    execution: row.execution,
  };
}

const stopByNumber = prepareQuery<{ companyId: number; stopNbr: string }, RouteStopRow>((db, arg) =>
  db
    .selectFrom("stops")
    .select(columns)
    .select(routedOrBody)
    .where("company_id", "=", arg("companyId"))
    .where("stop_nbr", "=", arg("stopNbr")),
);

export function findRouteStop(
  tx: Transaction,
  companyId: number,
  stopNbr: string,
): Promise<RouteStop | undefined> {
  return stopByNumber.first(tx, { companyId, stopNbr }, routeStop);
}

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
const pendingStops = prepareQuery<{ loadId: number; besideId: number }, RouteStopRow>((db, arg) =>
  db
    .selectFrom("stops")
    .select(columns)
    .select(routedOrBody)
    .where("load_id", "=", arg("loadId"))
    .where(
      "stop_status",
      "not in",
      finalStopStatuses.map((status) => sql.lit<string>(status)),
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
  return (await pendingStops.run(tx, { loadId, besideId })).rows.map(routeStop).sort(byPosition);
}

const stopStates = prepareQuery<{ loadId: number }, { stop_status: string }>((db, arg) =>
  db.selectFrom("stops").select("stop_status").where("load_id", "=", arg("loadId")),
);

/** The state of every stop on the load. */
export async function listStopStates(tx: Transaction, loadId: number): Promise<readonly StopStatus[]> {
  return (await stopStates.run(tx, { loadId })).rows.map(({ stop_status }) => stop_status as StopStatus);
}

interface ExecutionArguments {
  readonly id: number;
  readonly status: StopStatus;
  readonly execution: string;
  readonly updatedAt: number;
}

const saveExecutionQuery = prepareQuery<ExecutionArguments>((db, arg) =>
  db
    .updateTable("stops")
    .set({ stop_status: arg("status"), execution: arg("execution"), updated_at: arg("updatedAt") })
    .where("id", "=", arg("id")),
);

/** Changes state and execution of an existing stop. */
export function saveStopExecution(tx: Transaction, change: ExecutionArguments): Promise<unknown> {
  return saveExecutionQuery.run(tx, change);
}
