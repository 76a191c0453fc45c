/**
 * Report GPS position (specification/events.md#positions). A position counts between the start and the end of its load,
 * by its own time; any other is answered in the same way and dropped.
 */
import { distanceMetres, type GeoPoint } from "../../domain/execution/geo-point.ts";
import { GpsPosition } from "../../domain/execution/route-event.ts";
import { nextParty } from "../../domain/execution/route-event-rules.ts";
import type { StopExecution } from "../../domain/execution/stop-execution.ts";
import { placeOf } from "../../domain/execution/stop-visits.ts";
import { momentOf } from "../../domain/time/zoned-time.ts";
import type { Fault } from "../../lib/errors.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { apart } from "../../store/database/groups/side-by-side.ts";
import { recordEvents } from "../consequences/record-events.ts";
import type { RecordedEvent } from "../consequences/recorded-event.ts";
import { savePosition } from "../../store/stops/route-reports.ts";
import { listPendingStops, saveStopExecution } from "../../store/stops/route-stops.ts";
import { canonicalReport } from "./read-route-event.ts";
import { createBodyReader, refusal } from "../request-body.ts";
import {
  readReportedStop,
  type ReportedRoute,
  reportData,
  reportedRoute,
  type ReportedStop,
  type RouteReport,
  type RouteReportDeps,
  loadUnitKey,
} from "./route-report.ts";
import { updateProgress } from "./update-eta.ts";

const readBody = createBodyReader(GpsPosition);

function faultOf(name: "latitude" | "longitude"): Fault {
  const path = `geoStamp.${name}`;
  return { code: "missing", path, message: `${path} is missing. Send a value for it.` };
}

function readPosition(input: RouteReport): GpsPosition {
  const body = readBody(canonicalReport(input));
  const names = ["latitude", "longitude"] as const;
  const faults = names.filter((name) => body.geoStamp[name] === undefined).map(faultOf);
  if (faults.length > 0) throw refusal(faults);
  return body;
}

/** Whether the position was taken while the load was under way. */
function isUnderWay({ load, execution, at }: ReportedRoute): boolean {
  const { actualStartDTTM: start, actualStartTimeZone: startZone = "UTC" } = execution;
  const { actualEndDTTM: end, actualEndTimeZone: endZone = "UTC" } = execution;
  if ((load.status !== 40 && load.status !== 90) || start === undefined) return false;
  return at >= momentOf(start, startZone) && (end === undefined || at <= momentOf(end, endZone));
}

interface Near {
  /** As it is now. */
  readonly reported: ReportedStop;
  /** 7006, to be recorded when the driver has just come near. */
  readonly events: readonly RecordedEvent[];
}

/** Notes that the driver is near the stop, if that is so for the first time of the visit. */
async function enterGeofence(
  tx: Transaction,
  route: ReportedRoute,
  { place, ...near }: ReportedStop & { readonly place: GeoPoint },
): Promise<Near> {
  const { row, stop, visits } = near;
  const party = nextParty(row.status, visits);
  const centre = party === undefined ? undefined : placeOf(stop, visits, party);
  const unchanged = { reported: near, events: [] };
  if (party === undefined || centre === undefined) return unchanged;
  const radius = stop.stopGeofenceRadius ?? 0;
  if (distanceMetres(place, centre) > (radius > 0 ? radius : route.settings.geofenceRadius)) return unchanged;
  const executed = JSON.parse(row.execution) as StopExecution;
  if (executed[party]?.geofenceDTTM !== undefined) return unchanged;
  const visit = { ...executed[party], geofenceDTTM: route.stamp.eventDTTM };
  const execution = JSON.stringify({ ...executed, [party]: visit });
  await saveStopExecution(tx, { id: row.id, status: row.status, execution, updatedAt: route.now });
  const { companyId, load, now } = route;
  const entered: RecordedEvent = {
    ...{ companyId, kind: "geofenceEntered" as const, loadNbr: load.loadNbr, recordedAt: now },
    stopNbr: row.stopNbr,
    data: { ...reportData(route), visit: party === "from" ? "pickup" : "dropoff" },
  };
  return { reported: { ...near, row: { ...row, execution } }, events: [entered] };
}

async function applyPosition(tx: Transaction, route: ReportedRoute): Promise<void> {
  const { load, place, at, stamp, userName } = route;
  if (place === undefined || !isUnderWay(route)) return;
  await savePosition(tx, {
    ...{ loadId: load.id, at, ...place, reportedBy: userName },
    eventDttm: stamp.eventDTTM,
    eventTz: stamp.eventTz,
  });
  if (load.status !== 40) return;
  const stops: Near[] = [];
  for (const row of await listPendingStops(tx, load.id))
    stops.push(await enterGeofence(tx, route, { ...readReportedStop(row, route), place }));
  const pendingStops = async () => stops.map(({ reported }) => reported);
  await updateProgress(tx, route, { place, pendingStops });
  // Afterwards: messages to customers show the arrival as it is after this position.
  await recordEvents(
    tx,
    stops.flatMap(({ events }) => events),
  );
}

/** Keeps the position that the body reports, if it counts. Throws the faults of the body, 920 or 932. */
export async function reportGpsPosition(deps: RouteReportDeps, input: RouteReport): Promise<void> {
  const { geoStamp: stamp, routeNbr } = readPosition(input);
  const work = async (tx: Transaction) => {
    await applyPosition(tx, await reportedRoute(tx, deps, { input, routeNbr, stamp }));
  };
  await deps.store.write(
    input.companyId,
    apart(() => [loadUnitKey(routeNbr)], work),
  );
}
