/** What is known of one load: its stops with what was planned and what was, its way, its driver, its imports. */
import type { Scope } from "../../../endpoints/http/console/console-services.ts";
import type {
  LoadAsked,
  LoadFound,
  LoadImportView,
  LoadStopView,
  PositionView,
} from "../../../endpoints/http/console/pages/load/load-view.ts";
import { pointOf } from "../../../domain/execution/geo-point.ts";
import type { LoadExecution, StopExecution } from "../../../domain/execution/stop-execution.ts";
import { originPoint, visitsOf } from "../../../domain/execution/stop-visits.ts";
import type { LoadAssignment, LoadHeader } from "../../../domain/load/load.ts";
import { recordedEventName } from "../../../domain/outbound/recorded-events.ts";
import type { Stop } from "../../../domain/stop/stop.ts";
import { reasonCodeOf } from "../../../lib/errors.ts";
import { given } from "../../../lib/given.ts";
import { type ImportOfLoad, listImportsOfLoad } from "../../../store/stops/imports.ts";
import {
  countFinalStops,
  countStopsOfLoads,
  findStoredLoad,
  type StoredLoad,
} from "../../../store/stops/load-queries.ts";
import { countPositions, findProgress, listPositions } from "../../../store/stops/route-reports.ts";
import { eachStopOfLoad } from "../../../store/stops/shown-stops.ts";
import { listLoadEvents } from "../../../store/stops/stop-history.ts";
import type { StoredStop } from "../../../store/stops/stop-queries.ts";
import type { QueryContext } from "../query-context.ts";
import { placeText, readPlace } from "./file-places.ts";
import { companyOfScope } from "./ledger-links.ts";
import { momentOrNone, visitViewsOf } from "./visit-views.ts";

const maxStops = 500;
const maxPositions = 5_000;
const shownPositions = 500;
const maxEvents = 200;
const maxImports = 20;

function stopViewOf({ config }: QueryContext, stored: StoredStop, header: LoadHeader): LoadStopView {
  const stop = JSON.parse(stored.body) as Stop;
  const execution = JSON.parse(stored.execution) as StopExecution;
  const kind = visitsOf(stop, header);
  const radius = stop.stopGeofenceRadius ?? 0;
  const radiusMetres = radius > 0 ? radius : config.events.geofenceRadius;
  const views = visitViewsOf(stop, execution, { visits: kind, loadZone: header.loadTimeZone });
  const visits = views.map((view) => ({ ...view, radiusMetres, ...given({ place: pointOf(view.address) }) }));
  return { stopNbr: stored.stopNbr, status: stored.status, visits };
}

async function stopsOf(context: QueryContext, load: StoredLoad, header: LoadHeader) {
  const stops: LoadStopView[] = [];
  for await (const batch of eachStopOfLoad(context.read, load.id)) {
    for (const stored of batch.slice(0, maxStops - stops.length))
      stops.push(stopViewOf(context, stored, header));
    if (stops.length === maxStops) break;
  }
  const count = (await countStopsOfLoads(context.read, [load.id])).get(load.id) ?? 0;
  return { stops, moreStops: count - stops.length, finalStops: await countFinalStops(context.read, load.id) };
}

/** Evenly drawn, with the first and the last. */
function thinned(positions: readonly PositionView[]): readonly PositionView[] {
  if (positions.length <= shownPositions) return positions;
  const step = (positions.length - 1) / (shownPositions - 1);
  return Array.from({ length: shownPositions }, (_, index) => positions[Math.round(index * step)]).filter(
    (position) => position !== undefined,
  );
}

async function wayOf({ read }: QueryContext, loadId: number) {
  const rows = await listPositions(read, { loadId, limit: maxPositions });
  const positions = rows.map(({ at, latitude, longitude }) => ({ at, place: { latitude, longitude } }));
  const progress = await findProgress(read, loadId);
  return {
    track: thinned(positions.toReversed()),
    positions: await countPositions(read, loadId),
    last: progress === undefined ? undefined : { at: progress.at, place: progress.place },
    etaAt: progress?.etaAt ?? undefined,
  };
}

async function eventsOf({ read }: QueryContext, key: { companyId: number; loadNbr: string }) {
  const events = await listLoadEvents(read, { ...key, limit: maxEvents });
  return events
    .map(({ code, stopNbr, recordedAt, eventDTTM, eventTz }) => ({
      ...{ code, name: recordedEventName(code), stopNbr, recordedAt },
      happenedAt: momentOrNone(eventDTTM, eventTz ?? "UTC") ?? recordedAt,
    }))
    .toSorted((one, other) => one.happenedAt - other.happenedAt);
}

function importViewOf(one: ImportOfLoad): LoadImportView {
  const { guid, userName: user, receivedAt, decidedAt, state, faults } = one;
  return {
    ...{ guid, user, receivedAt, decidedAt, state },
    reasons: faults.map(({ code, path, message }) => ({
      ...{ reasonCode: reasonCodeOf(code), message },
      ...given({ path }),
    })),
  };
}

interface ImportsKey {
  readonly companyId: number;
  readonly loadNbr: string;
  /** A place that the page before has named. */
  readonly before: string | undefined;
}

async function importsOf(
  { read, ledgerNumbers }: QueryContext,
  { before, ...key }: ImportsKey,
): Promise<LoadFound["imports"]> {
  // One more than is shown tells whether there are older ones.
  const limit = maxImports + 1;
  const found = await listImportsOfLoad(read, { ...key, before: readPlace(ledgerNumbers, before), limit });
  const shown = found.slice(0, maxImports);
  const last = found.length > maxImports ? shown.at(-1) : undefined;
  return {
    shown: shown.map(importViewOf),
    before: last && placeText(ledgerNumbers, last),
  };
}

async function newestImportOf(
  { read }: QueryContext,
  key: Omit<ImportsKey, "before">,
): Promise<LoadImportView | undefined> {
  const found = await listImportsOfLoad(read, { ...key, limit: 1 });
  return found.map(importViewOf)[0];
}

function originOf(header: LoadHeader): LoadFound["origin"] {
  const { originName, originAddr1, originZip, originCity, origin } = header;
  const parts = [originName, originAddr1, originZip, originCity].filter((part) => part !== undefined);
  const place = originPoint(header);
  const name = parts.length > 0 ? parts.join(", ") : String(origin ?? "");
  return name === "" && place === undefined ? undefined : { name, ...given({ place }) };
}

function driverOf({ driver }: StoredLoad): LoadFound["driver"] {
  const { driverName, driverUserName, driverCdl } = JSON.parse(driver) as LoadAssignment;
  const cdl = driverCdl === undefined ? undefined : String(driverCdl);
  return given({ name: driverName, userName: driverUserName, cdl });
}

function timesOf(header: LoadHeader, execution: LoadExecution, zone: string) {
  const { actualStartDTTM, actualStartTimeZone, actualEndDTTM, actualEndTimeZone } = execution;
  return given({
    earliestStart: momentOrNone(header.earliestStartDttm, zone),
    latestStart: momentOrNone(header.latestStartDttm, zone),
    actualStart: momentOrNone(actualStartDTTM, actualStartTimeZone ?? zone),
    actualEnd: momentOrNone(actualEndDTTM, actualEndTimeZone ?? zone),
  });
}

/** The load of exactly that number; undefined when there is none that the user may see. */
export async function queryLoad(
  context: QueryContext,
  scope: Scope,
  { companyCode, loadNbr, importsBefore }: LoadAsked,
): Promise<LoadFound | undefined> {
  const company = companyOfScope(scope, companyCode);
  if (company === undefined) return undefined;
  const key = { companyId: company.id, loadNbr };
  const load = await findStoredLoad(context.read, key);
  if (load === undefined) return undefined;
  const imports = await importsOf(context, { ...key, before: importsBefore });
  const header = JSON.parse(load.body) as LoadHeader;
  const zone = header.loadTimeZone ?? "UTC";
  const vehicle = header.tractorNbr ?? header.trailerNbr;
  return {
    ...{ company: company.code, loadNbr, status: load.status, carrierCode: load.carrierCode },
    ...{ driver: driverOf(load), vehicle: vehicle === undefined ? undefined : String(vehicle), zone },
    ...timesOf(header, JSON.parse(load.execution) as LoadExecution, zone),
    ...{ origin: originOf(header), createdAt: load.createdAt },
    ...(await stopsOf(context, load, header)),
    ...(await wayOf(context, load.id)),
    events: await eventsOf(context, key),
    imports,
    newestImport: importsBefore === undefined ? imports.shown[0] : await newestImportOf(context, key),
  };
}
