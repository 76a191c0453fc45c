/**
 * What route events and positions have in common: who reports what of which load
 * (specification/accounts.md#roles-of-operations).
 */
import { type GeoPoint, pointOf } from "../../domain/execution/geo-point.ts";
import type { LoadHeader } from "../../domain/load/load.ts";
import type { Role } from "../../domain/users/role.ts";
import type { GeoStamp } from "../../domain/execution/route-event.ts";
import type { StopVisits } from "../../domain/execution/route-event-rules.ts";
import type { LoadExecution } from "../../domain/execution/stop-execution.ts";
import type { RoutedStop } from "../../domain/execution/routed-stop.ts";
import { visitsOf } from "../../domain/execution/stop-visits.ts";
import { momentOf } from "../../domain/time/zoned-time.ts";
import { DropgateError } from "../../lib/errors.ts";
import type { JsonLimits } from "../../lib/json-text.ts";
import { isUnableToUseApp } from "../../store/accounts/drivers.ts";
import type { Reader } from "../../store/database/database.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { findStoredLoad, type StoredLoad } from "../../store/stops/load-queries.ts";
import type { RouteStop } from "../../store/stops/route-stops.ts";
import { loadNotFound } from "../not-found.ts";
import type { EventReaders } from "./read-route-event.ts";
import type { StoreDeps } from "../operation-deps.ts";
import { type CompanyBody, refusal } from "../request-body.ts";
import { hourMs } from "../../lib/durations.ts";

/** The settings of the section `events`. */
export interface EventSettings {
  /** Whether a confirmation is the departure too, unless the event says otherwise. */
  readonly autoDepart: boolean;
  /** Metres around a stop that has no `stopGeofenceRadius` of its own. */
  readonly geofenceRadius: number;
  readonly averageSpeedKmh: number;
  /** Least time between two calculations of a load's ETAs. */
  readonly etaIntervalMs: number;
  /** A report from further ahead of our clock is refused. */
  readonly maxAheadHours: number;
}

export interface RouteReportDeps extends StoreDeps {
  readonly documentsDir: string;
  readonly events: () => EventSettings;
  /** Where large events are read; without them they are read at once. */
  readonly readers?: EventReaders;
}

export interface RouteReport extends CompanyBody {
  /** A large body, unparsed, instead of `body`. It is transferred. */
  readonly large?: Uint8Array;
  readonly jsonLimits?: JsonLimits;
  readonly userName: string;
  /** Those of the caller in the company. */
  readonly roles: readonly Role[];
}

/** The load of a report, on its way through the transaction. */
export interface ReportedRoute {
  readonly companyId: number;
  readonly load: StoredLoad;
  readonly header: LoadHeader;
  readonly execution: LoadExecution;
  readonly stamp: GeoStamp;
  /** Where it was reported from. */
  readonly place: GeoPoint | undefined;
  /** The report's own time, milliseconds UTC. */
  readonly at: number;
  readonly userName: string;
  readonly roles: readonly Role[];
  /** Our clock. */
  readonly now: number;
  readonly settings: EventSettings;
}

/** Whether the caller drives for the company. */
export function isDriver(roles: readonly Role[]): boolean {
  return roles.includes("DI_Driver");
}

function checkMayReport(
  load: StoredLoad,
  { userName, roles }: Pick<RouteReport, "userName" | "roles">,
): void {
  if (roles.includes("DI_Integration") || load.driverUserId === null) return;
  const { driverUserName } = JSON.parse(load.driver) as { driverUserName?: string };
  if (driverUserName === userName) return;
  throw new DropgateError(
    "roleMissing",
    `the load ${load.loadNbr} is assigned to another driver. Have it assigned to you, or report with the role DI_Integration.`,
  );
}

/** Throws 932 for a driver who cannot use the application (`unableToUseApp`): somebody else has the device. */
async function checkCanUseApp(
  db: Transaction | Reader,
  caller: Pick<RouteReport, "companyId" | "userName" | "roles">,
): Promise<void> {
  if (caller.roles.includes("DI_Integration") || !(await isUnableToUseApp(db, caller))) return;
  throw new DropgateError(
    "roleMissing",
    `the user ${caller.userName} cannot use the driver application (unableToUseApp). Import the user with false, or report with the role DI_Integration.`,
  );
}

interface Wanted extends Pick<RouteReport, "companyId" | "userName" | "roles"> {
  readonly routeNbr: string;
}

/** The load of that number, if the caller may report of it. Throws 920 or 932. */
export async function findReportedLoad(db: Transaction | Reader, wanted: Wanted): Promise<StoredLoad> {
  await checkCanUseApp(db, wanted);
  const load = await findStoredLoad(db, { companyId: wanted.companyId, loadNbr: wanted.routeNbr });
  if (load === undefined) throw loadNotFound(wanted.routeNbr);
  checkMayReport(load, wanted);
  return load;
}

/** Throws 904 for a time that only a wrong clock shows: no report before that time would change the load's place. */
function checkTime({ at, now, stamp, settings }: ReportedRoute): void {
  if (at <= now + settings.maxAheadHours * hourMs) return;
  const path = "geoStamp.eventDTTM";
  const message = `${path} is ${stamp.eventDTTM} (${stamp.eventTz}), more than ${settings.maxAheadHours} hours ahead of this gateway's clock. Correct the clock of the device, and report the time at which it happened.`;
  throw refusal([{ code: "badDate", path, message }]);
}

/** What a report is about, in its transaction. Throws 920, 932, or 904 for a time that cannot have come yet. */
export async function reportedRoute(
  tx: Transaction,
  deps: Pick<RouteReportDeps, "clock" | "events">,
  report: { readonly input: RouteReport; readonly routeNbr: string; readonly stamp: GeoStamp },
): Promise<ReportedRoute> {
  const { input, routeNbr, stamp } = report;
  const { companyId, userName, roles } = input;
  const load = await findReportedLoad(tx, { companyId, userName, roles, routeNbr });
  const route = {
    ...{ companyId, load, stamp, userName, roles },
    header: JSON.parse(load.body) as LoadHeader,
    execution: JSON.parse(load.execution) as LoadExecution,
    place: pointOf(stamp),
    at: momentOf(stamp.eventDTTM, stamp.eventTz),
    now: deps.clock.now(),
    settings: deps.events(),
  };
  checkTime(route);
  return route;
}

/** The key of a unit of work that writes the load and stops on it (`store/database/groups/side-by-side.ts`). */
export function loadUnitKey(loadNbr: string): string {
  return `load ${loadNbr}`;
}

/** A stop on the load of a report: read once for the whole report. */
export interface ReportedStop {
  readonly row: RouteStop;
  readonly stop: RoutedStop;
  readonly visits: StopVisits;
}

export function readReportedStop(row: RouteStop, { header }: ReportedRoute): ReportedStop {
  const stop = JSON.parse(row.routed) as RoutedStop;
  return { row, stop, visits: visitsOf(stop, header) };
}

/** The report's part of a recorded event: its time and place, and who sent it. */
export function reportData({ stamp, userName }: Pick<ReportedRoute, "stamp" | "userName">) {
  const { eventDTTM, eventTz, latitude, longitude } = stamp;
  return { eventDTTM, eventTz, latitude, longitude, reportedBy: userName };
}
