/** Reports of drivers about a load: its events, each stored once, its positions, and its progress. */
import type { GeoPoint } from "../../domain/execution/geo-point.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/group-commit.ts";
import { prepareQuery } from "../database/prepared-query.ts";

export interface ReportedEvent {
  readonly loadId: number;
  /** Empty for events of the whole route. */
  readonly stopNbr: string;
  readonly eventCode: string;
  readonly eventDttm: string;
  readonly eventTz: string;
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly reportedBy: string;
  readonly receivedAt: number;
}

const insertReport = prepareQuery<ReportedEvent>((db, arg) =>
  db
    .insertInto("reported_events")
    .values({
      load_id: arg("loadId"),
      stop_nbr: arg("stopNbr"),
      event_code: arg("eventCode"),
      event_dttm: arg("eventDttm"),
      event_tz: arg("eventTz"),
      latitude: arg("latitude"),
      longitude: arg("longitude"),
      reported_by: arg("reportedBy"),
      received_at: arg("receivedAt"),
    })
    .onConflict((conflict) =>
      conflict.columns(["load_id", "stop_nbr", "event_code", "event_dttm"]).doNothing(),
    ),
);

/** Stores the report in the transaction of its effect; false when it was stored before, and so has had its effect. */
export async function saveReportedEvent(tx: Transaction, report: ReportedEvent): Promise<boolean> {
  const { affected } = await insertReport.run(tx, report);
  return affected === 1;
}

/** Code and local time of a report. */
export interface ReportTime {
  readonly eventCode: string;
  readonly eventDTTM: string;
  readonly eventTz: string;
}

const reportTimes = prepareQuery<{ loadId: number }, ReportTime>((db, arg) =>
  db
    .selectFrom("reported_events")
    .select(["event_code as eventCode", "event_dttm as eventDTTM", "event_tz as eventTz"])
    .where("load_id", "=", arg("loadId")),
);

/** The times of all reports of a load, in no order. */
export async function listReportTimes(tx: Transaction, loadId: number): Promise<readonly ReportTime[]> {
  return (await reportTimes.run(tx, { loadId })).rows;
}

export interface Position extends GeoPoint {
  readonly loadId: number;
  /** Milliseconds UTC, by the position's own time. */
  readonly at: number;
  readonly eventDttm: string;
  readonly eventTz: string;
  readonly reportedBy: string;
}

const insertPosition = prepareQuery<Position>((db, arg) =>
  db
    .insertInto("positions")
    .values({
      load_id: arg("loadId"),
      at: arg("at"),
      event_dttm: arg("eventDttm"),
      event_tz: arg("eventTz"),
      latitude: arg("latitude"),
      longitude: arg("longitude"),
      reported_by: arg("reportedBy"),
    })
    .onConflict((conflict) => conflict.columns(["load_id", "at"]).doNothing()),
);

/** Stores a position of a load; one of the same moment is stored once. */
export async function savePosition(tx: Transaction, position: Position): Promise<void> {
  await insertPosition.run(tx, position);
}

/** The last position of a load, and when its ETAs were calculated (by our clock). */
export interface RouteProgress {
  readonly loadId: number;
  readonly at: number;
  readonly place: GeoPoint;
  readonly etaAt: number | null;
}

interface ProgressRow {
  load_id: number;
  at: number;
  latitude: number;
  longitude: number;
  eta_at: number | null;
}

const progressOf = prepareQuery<{ loadId: number }, ProgressRow>((db, arg) =>
  db
    .selectFrom("route_progress")
    .select(["load_id", "at", "latitude", "longitude", "eta_at"])
    .where("load_id", "=", arg("loadId")),
);

function routeProgress(row: ProgressRow): RouteProgress {
  const { load_id: loadId, at, latitude, longitude, eta_at: etaAt } = row;
  return { loadId, at, place: { latitude, longitude }, etaAt };
}

export function findProgress(tx: Transaction | Reader, loadId: number): Promise<RouteProgress | undefined> {
  return progressOf.first(tx, { loadId }, routeProgress);
}

interface ProgressArguments extends GeoPoint {
  readonly loadId: number;
  readonly at: number;
  readonly etaAt: number | null;
}

const saveProgressQuery = prepareQuery<ProgressArguments>((db, arg) =>
  db
    .insertInto("route_progress")
    .values({
      load_id: arg("loadId"),
      at: arg("at"),
      latitude: arg("latitude"),
      longitude: arg("longitude"),
      eta_at: arg("etaAt"),
    })
    .onConflict((conflict) =>
      conflict.column("load_id").doUpdateSet((set) => ({
        at: set.ref("excluded.at"),
        latitude: set.ref("excluded.latitude"),
        longitude: set.ref("excluded.longitude"),
        eta_at: set.ref("excluded.eta_at"),
      })),
    ),
);

export function saveProgress(tx: Transaction, progress: RouteProgress): Promise<unknown> {
  const { place, ...rest } = progress;
  return saveProgressQuery.run(tx, { ...rest, ...place });
}

const forgetEtaQuery = prepareQuery<{ loadId: number }>((db, arg) =>
  db.updateTable("route_progress").set({ eta_at: null }).where("load_id", "=", arg("loadId")),
);

/** Makes the next report calculate the ETAs of the load, however short a while ago that was done. */
export function forgetEta(tx: Transaction, loadId: number): Promise<unknown> {
  return forgetEtaQuery.run(tx, { loadId });
}
