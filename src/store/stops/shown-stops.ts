/**
 * Stops as their details show them: what else belongs to a stop comes with it, in one query, because a detail is asked
 * for more often than anything else.
 */
import { type ExpressionBuilder, sql } from "kysely";
import type { Reader } from "../database/database.ts";
import { prepareQuery } from "../database/prepared-query.ts";
import { firstThatFit, maxBatchBytes } from "../database/row-batches.ts";
import type { Tables } from "../database/schema.ts";
import { type StoredStop, stopColumns } from "./stop-queries.ts";
import type { StopKey } from "./stops.ts";

export interface ShownStop extends StoredStop {
  /** Few have one: it is read by itself. */
  readonly hasAppointment: boolean;
}

interface ShownRow extends StoredStop {
  readonly appointmentId: number | null;
}

function shownStop({ appointmentId, ...stop }: ShownRow): ShownStop {
  return { ...stop, hasAppointment: appointmentId !== null };
}

/** The load of a stop. `body` and `driver` are JSON text. */
export interface LoadOfStop {
  readonly loadNbr: string;
  readonly body: string;
  readonly driver: string;
}

export interface StopOnLoad extends ShownStop {
  /** The load that it is on. */
  readonly load: LoadOfStop | undefined;
}

interface StopOnLoadRow extends ShownRow {
  readonly loadNbr: string | null;
  readonly loadBody: string | null;
  readonly loadDriver: string | null;
}

function stopOnLoad({ loadNbr, loadBody: body, loadDriver: driver, ...row }: StopOnLoadRow): StopOnLoad {
  const load = loadNbr === null || body === null || driver === null ? undefined : { loadNbr, body, driver };
  return { ...shownStop(row), load };
}

type StopExpressions = ExpressionBuilder<Tables, "stops">;

function appointmentOf(eb: StopExpressions) {
  return eb
    .selectFrom("appointments")
    .select("appointments.id")
    .where("appointments.state", "=", sql.lit("confirmed"))
    .whereRef("appointments.company_id", "=", "stops.company_id")
    .whereRef("appointments.order_nbr", "=", "stops.stop_nbr")
    .as("appointmentId");
}

function ofLoad(eb: StopExpressions, column: "load_nbr" | "body" | "driver") {
  return eb.selectFrom("loads").select(`loads.${column}`).whereRef("loads.id", "=", "stops.load_id");
}

const stopByNumber = prepareQuery<StopKey, StopOnLoadRow>((db, arg) =>
  db
    .selectFrom("stops")
    .select(stopColumns)
    .select((eb) => [
      appointmentOf(eb),
      ofLoad(eb, "load_nbr").as("loadNbr"),
      ofLoad(eb, "body").as("loadBody"),
      ofLoad(eb, "driver").as("loadDriver"),
    ])
    .where("company_id", "=", arg("companyId"))
    .where("stop_nbr", "=", arg("stopNbr")),
);

/** The stop of exactly that number in its company, in whatever state, or undefined. */
export function findStopOnLoad(db: Reader, stop: StopKey): Promise<StopOnLoad | undefined> {
  return stopByNumber.first(db, stop, stopOnLoad);
}

/** Without reading them. */
const bytesOfStop = sql<number>`octet_length(body) + octet_length(execution)`;

/** All of them, or none when they are more than are to be in memory at once. */
const stopsOfSmallLoad = prepareQuery<{ loadId: number }, ShownRow>((db, arg) =>
  db
    .selectFrom("stops")
    .select(stopColumns)
    .select(appointmentOf)
    .where("load_id", "=", arg("loadId"))
    .where((eb) =>
      eb(
        eb
          .selectFrom("stops")
          .select((all) => all.fn.sum<number>(bytesOfStop).as("bytes"))
          .where("load_id", "=", arg("loadId")),
        "<=",
        maxBatchBytes,
      ),
    )
    .orderBy("load_position"),
);

const stopSizesOfLoad = prepareQuery<{ loadId: number }, { id: number; bytes: number }>((db, arg) =>
  db
    .selectFrom("stops")
    .select(["id", bytesOfStop.as("bytes")])
    .where("load_id", "=", arg("loadId"))
    .orderBy("load_position"),
);

/** The stops on a load, in its order: all at once, or in batches when they are large. */
export async function* eachStopOfLoad(db: Reader, loadId: number): AsyncGenerator<readonly ShownStop[]> {
  const rows = await stopsOfSmallLoad.rows(db, { loadId });
  if (rows.length > 0) {
    yield rows.map(shownStop);
    return;
  }
  let left = await stopSizesOfLoad.rows(db, { loadId });
  while (left.length > 0) {
    const ids = firstThatFit(left).map(({ id }) => id);
    const query = db.selectFrom("stops").select(stopColumns).select(appointmentOf).where("id", "in", ids);
    yield (await query.orderBy("load_position").execute()).map(shownStop);
    left = left.slice(ids.length);
  }
}
