/** Reports of drivers about a load: its events, each stored once, its positions, and its progress. */
import type { GeoPoint } from "../../domain/execution/geo-point.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { namedArguments, namedColumns, type RowOf } from "../database/named-rows.ts";
import { excluded, prepareQuery } from "../database/prepared-query.ts";

type ReportedEvent = Omit<RowOf<"reported_events">, "id">;

/** Stores the report in the transaction of its effect; false when it was stored before, and so has had its effect. */
export const saveReportedEvent = prepareQuery<ReportedEvent>(
  (db, arg) =>
    db
      .insertInto("reported_events")
      .values({
        ...namedArguments(arg, "load_id", "stop_nbr", "event_code", "event_dttm", "event_tz"),
        ...namedArguments(arg, "latitude", "longitude", "reported_by", "received_at"),
      })
      .onConflict((conflict) =>
        conflict.columns(["load_id", "stop_nbr", "event_code", "event_dttm"]).doNothing(),
      ),
  { changesOwnRows: true },
).changes;

/** Code and local time of a report. */
interface ReportTime {
  readonly eventCode: string;
  readonly eventDTTM: string;
  readonly eventTz: string;
}

/** The times of all reports of a load, in no order. */
export const listReportTimes = prepareQuery<{ loadId: number }, ReportTime>((db, arg) =>
  db
    .selectFrom("reported_events")
    .select(["event_code as eventCode", "event_dttm as eventDTTM", "event_tz as eventTz"])
    .where("load_id", "=", arg("loadId")),
).rows;

/** Stores a position of a load; one of the same moment is stored once. */
export const savePosition = prepareQuery<RowOf<"positions">>(
  (db, arg) =>
    db
      .insertInto("positions")
      .values({
        ...namedArguments(arg, "load_id", "at", "event_dttm", "event_tz"),
        ...namedArguments(arg, "latitude", "longitude", "reported_by"),
      })
      .onConflict((conflict) => conflict.columns(["load_id", "at"]).doNothing()),
  { changesOwnRows: true },
).run;

type StoredPosition = Pick<RowOf<"positions">, "at" | "latitude" | "longitude">;

/** The positions of a load, the newest first. */
export async function listPositions(
  read: Reader,
  { loadId, limit }: { readonly loadId: number; readonly limit: number },
): Promise<readonly StoredPosition[]> {
  return await read
    .selectFrom("positions")
    .select(["at", "latitude", "longitude"])
    .where("load_id", "=", loadId)
    .orderBy("at", "desc")
    .limit(limit)
    .execute();
}

/** How many positions of a load there are. */
export async function countPositions(read: Reader, loadId: number): Promise<number> {
  const row = await read
    .selectFrom("positions")
    .select((eb) => eb.fn.countAll<number>().as("total"))
    .where("load_id", "=", loadId)
    .executeTakeFirst();
  return Number(row?.total ?? 0);
}

/** The last position of a load, and when its ETAs were calculated (by our clock). */
export interface RouteProgress {
  readonly loadId: number;
  readonly at: number;
  readonly place: GeoPoint;
  readonly etaAt: number | null;
}

type ProgressRow = RowOf<"route_progress">;

const progressOf = prepareQuery<{ loadId: number }, ProgressRow>((db, arg) =>
  db
    .selectFrom("route_progress")
    .select(namedColumns("load_id", "at", "latitude", "longitude", "eta_at"))
    .where("load_id", "=", arg("loadId")),
);

function routeProgress({ latitude, longitude, ...row }: ProgressRow): RouteProgress {
  return { ...row, place: { latitude, longitude } };
}

export function findProgress(tx: Transaction | Reader, loadId: number): Promise<RouteProgress | undefined> {
  return progressOf.first(tx, { loadId }, routeProgress);
}

const saveProgressQuery = prepareQuery<ProgressRow>(
  (db, arg) => {
    const progress = namedArguments(arg, "at", "latitude", "longitude", "eta_at");
    return db
      .insertInto("route_progress")
      .values({ load_id: arg("loadId"), ...progress })
      .onConflict((conflict) => conflict.column("load_id").doUpdateSet(excluded(progress)));
  },
  { changesOwnRows: true },
);

export function saveProgress(tx: Transaction, { place, ...rest }: RouteProgress): Promise<unknown> {
  return saveProgressQuery.run(tx, { ...rest, ...place });
}

/** Makes the next report calculate the ETAs of the load, however short a while ago that was done. */
export const forgetEta = prepareQuery<{ loadId: number }>((db, arg) =>
  db.updateTable("route_progress").set({ eta_at: null }).where("load_id", "=", arg("loadId")),
).run;
