/** The stops on a load as route events see them: state, what the host sent, and execution. */
import { sql } from "kysely";
import { isFinalStopStatus, type StopStatus } from "../domain/stop-status.ts";
import type { Transaction } from "./group-commit.ts";
import { prepareQuery } from "./prepared-query.ts";

export interface RouteStop {
  readonly id: number;
  readonly stopNbr: string;
  readonly status: StopStatus;
  readonly loadId: number | null;
  /** Its place among the stops of its load. */
  readonly loadPosition: number | null;
  /** JSON: the canonical stop. */
  readonly body: string;
  readonly execution: string;
}

interface RouteStopRow {
  id: number;
  stop_nbr: string;
  stop_status: string;
  load_id: number | null;
  load_position: number | null;
  body: string;
  execution: string;
}

const columns = ["id", "stop_nbr", "stop_status", "load_id", "load_position", "body", "execution"] as const;

function routeStop(row: RouteStopRow): RouteStop {
  return {
    id: row.id,
    stopNbr: row.stop_nbr,
    status: row.stop_status as StopStatus,
    loadId: row.load_id,
    loadPosition: row.load_position,
    body: row.body,
    execution: row.execution,
  };
}

const stopByNumber = prepareQuery<{ companyId: number; stopNbr: string }, RouteStopRow>((db, arg) =>
  db
    .selectFrom("stops")
    .select(columns)
    .where("company_id", "=", arg("companyId"))
    .where("stop_nbr", "=", arg("stopNbr")),
);

export async function findRouteStop(
  tx: Transaction,
  companyId: number,
  stopNbr: string,
): Promise<RouteStop | undefined> {
  const [row] = (await stopByNumber.run(tx, { companyId, stopNbr })).rows;
  return row === undefined ? undefined : routeStop(row);
}

/** Not ordered: SQLite would prepare the statement anew at each run, which takes ten times as long as the run. */
const pendingStops = prepareQuery<{ loadId: number; besideId: number }, RouteStopRow>((db, arg) =>
  db
    .selectFrom("stops")
    .select(columns)
    .where("load_id", "=", arg("loadId"))
    .where("stop_status", "not in", ["80", "90", "91", "99"].map(sql.lit<string>))
    .where("id", "!=", arg("besideId")),
);

function byPosition(one: RouteStop, other: RouteStop): number {
  return (one.loadPosition ?? -1) - (other.loadPosition ?? -1) || one.id - other.id;
}

/** The stops of the load that are not final, in the order of their visits. */
export async function listPendingStops(tx: Transaction, loadId: number): Promise<readonly RouteStop[]> {
  return (await pendingStops.run(tx, { loadId, besideId: 0 })).rows.map(routeStop).sort(byPosition);
}

/** The same with one of them, as it is now, that need not be read again. */
export async function listPendingStopsWith(
  tx: Transaction,
  loadId: number,
  known: RouteStop,
): Promise<readonly RouteStop[]> {
  const others = (await pendingStops.run(tx, { loadId, besideId: known.id })).rows.map(routeStop);
  return (isFinalStopStatus(known.status) ? others : [known, ...others]).sort(byPosition);
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

/** Changes state and execution of a stop that is there. */
export async function saveStopExecution(tx: Transaction, change: ExecutionArguments): Promise<void> {
  await saveExecutionQuery.run(tx, change);
}
