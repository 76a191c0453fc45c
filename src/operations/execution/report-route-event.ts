/**
 * Report route/stop event (specification/events.md#order-of-events).
 *
 *   form of the body -> load -> rights of the caller -> repetition -> sequence -> effect, ETA, recorded events
 *
 * An event is identified by route, stop, code and its own time. It is kept in the transaction of its effect: an event that
 * comes again finds itself there, and is answered as the first was. It changes no state any more, but its documents,
 * exceptions and quantities are kept as far as they are new.
 */
import type { GeoPoint } from "../../domain/execution/geo-point.ts";
import type { KeptDocument } from "../../domain/documents/document-content.ts";
import { type RouteEventRule, routeEventRule } from "../../domain/execution/route-event-rules.ts";
import { isFinalStopStatus } from "../../domain/stop/stop-status.ts";
import { originPoint, placeOf } from "../../domain/execution/stop-visits.ts";
import { parseJsonBytes } from "../../lib/json-text.ts";
import { saveDocuments } from "../../store/stops/documents.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { apart } from "../../store/database/groups/side-by-side.ts";
import { updateLoadState } from "../../store/stops/loads.ts";
import { recordEvents } from "../consequences/record-events.ts";
import { findProgress, saveReportedEvent } from "../../store/stops/route-reports.ts";
import { byPosition, listPendingStops } from "../../store/stops/route-stops.ts";
import {
  type AppliedLoadEvent,
  applyLoadEvent,
  checkLoadState,
  completedIfDone,
} from "./apply-load-event.ts";
import { applyRepeatedStopEvent, applyStopEvent } from "./apply-stop-event.ts";
import { defaultJsonLimits } from "../imports/import-preparation.ts";
import { readRouteEvent, type SentEvent } from "./read-route-event.ts";
import { refusal } from "../request-body.ts";
import {
  findReportedLoad,
  loadUnitKey,
  readReportedStop,
  type ReportedRoute,
  reportedRoute,
  type ReportedStop,
  type RouteReport,
  type RouteReportDeps,
} from "./route-report.ts";
import { storeContents } from "../imports/take-out-documents.ts";
import { updateProgress } from "./update-eta.ts";

interface ReadEvent extends SentEvent {
  readonly rule: RouteEventRule;
}

interface Taken {
  readonly event: ReadEvent;
  readonly kept: readonly KeptDocument[];
}

/** A large body is read by a reader thread, which gives the contents of the documents as bytes. */
async function readSent({ readers }: RouteReportDeps, input: RouteReport): Promise<ReadEvent> {
  const { large: bytes, jsonLimits: limits = defaultJsonLimits, companyCode, unknownFields } = input;
  const own = { companyCode, ...(unknownFields === undefined ? {} : { unknownFields }) };
  let sent: SentEvent;
  if (bytes === undefined) sent = readRouteEvent(input);
  else if (readers === undefined) sent = readRouteEvent({ ...own, body: parseJsonBytes(bytes, limits) });
  else sent = await readers.readEvent({ ...own, bytes, limits });
  return { ...sent, rule: routeEventRule(sent.code) };
}

/** The contents are durable when it resolves. */
async function keepContents(deps: RouteReportDeps, input: RouteReport, event: ReadEvent): Promise<Taken> {
  const { data, contents, faults, body } = event;
  if (data?.documents === undefined) return { event, kept: [] };
  // Nothing is stored for somebody who may not report, nor for a load that is not there.
  await findReportedLoad(deps.store.read, { ...input, routeNbr: body.routeNbr });
  if (faults.length > 0) throw refusal(faults);
  return { event, kept: await storeContents(deps, contents) };
}

/** Keeps the event; false when it was reported before. */
function isReportedFirst(tx: Transaction, route: ReportedRoute, event: ReadEvent): Promise<boolean> {
  return saveReportedEvent(tx, {
    loadId: route.load.id,
    stopNbr: event.data?.stopNbr ?? "",
    eventCode: event.code,
    eventDttm: route.stamp.eventDTTM,
    eventTz: route.stamp.eventTz,
    latitude: route.place?.latitude ?? null,
    longitude: route.place?.longitude ?? null,
    reportedBy: route.userName,
    receivedAt: route.now,
  });
}

interface Applied extends AppliedLoadEvent {
  /** The stop that the event is about, as it is now. */
  readonly visited: ReportedStop | undefined;
}

async function placeOfLoadEvent(
  tx: Transaction,
  route: ReportedRoute,
  { step }: Extract<RouteEventRule, { kind: "load" }>,
): Promise<GeoPoint | undefined> {
  const isAtOrigin = step === "originArrival" || step === "originDeparture";
  const isUnknown = (await findProgress(tx, route.load.id)) === undefined;
  return isAtOrigin || isUnknown ? originPoint(route.header) : undefined;
}

/** Where the driver was when the report does not say it: the place that the event is about. */
async function placeOfEvent(
  tx: Transaction,
  route: ReportedRoute,
  { rule, visited }: Pick<ReadEvent, "rule"> & Pick<Applied, "visited">,
): Promise<GeoPoint | undefined> {
  if (rule.kind === "load") return await placeOfLoadEvent(tx, route, rule);
  // A stop that is closed may never have been reached.
  if (visited === undefined || rule.step === "closed") return undefined;
  return placeOf(visited.stop, visited.visits, rule.party);
}

async function pendingStops(
  tx: Transaction,
  route: ReportedRoute,
  visited: ReportedStop | undefined,
): Promise<readonly ReportedStop[]> {
  const others = await listPendingStops(tx, route.load.id, visited?.row.id);
  const isDone = visited === undefined || isFinalStopStatus(visited.row.status);
  // It is known as it is now, and need not be read again.
  const rows = isDone ? others : [visited.row, ...others].sort(byPosition);
  return rows.map((row) => (visited?.row === row ? visited : readReportedStop(row, route)));
}

async function applyRule(tx: Transaction, route: ReportedRoute, event: ReadEvent): Promise<Applied> {
  const { code, rule, data } = event;
  checkLoadState(route, code, rule);
  if (rule.kind === "load")
    return { ...(await applyLoadEvent(tx, route, { code, rule })), visited: undefined };
  if (data === undefined) return { load: route.load, visited: undefined, events: [] };
  const { stop: visited, events } = await applyStopEvent(tx, route, { code, rule, data });
  return { load: route.load, visited, events };
}

/** Whether the event may have been the last thing to be done on the load. */
function mayComplete(rule: RouteEventRule, visited: ReportedStop | undefined): boolean {
  if (rule.kind === "load") return rule.step === "originDeparture" || rule.step === "depotArrival";
  return visited === undefined || isFinalStopStatus(visited.row.status);
}

/** An event that was reported before has had its effect; what it brings besides may be new. */
async function applyAgain(tx: Transaction, route: ReportedRoute, { event, kept }: Taken): Promise<void> {
  const { code, rule, data } = event;
  if (rule.kind === "load" || data === undefined) return;
  const { companyId, now } = route;
  await saveDocuments(tx, { companyId, documents: kept, now });
  await recordEvents(tx, await applyRepeatedStopEvent(tx, route, { code, rule, data }));
}

async function applyEvent(tx: Transaction, route: ReportedRoute, taken: Taken): Promise<void> {
  const { event, kept } = taken;
  if (!(await isReportedFirst(tx, route, event))) return await applyAgain(tx, route, taken);
  const { companyId, now } = route;
  const { rule } = event;
  const applied = await applyRule(tx, route, event);
  const { visited } = applied;
  if (kept.length > 0) await saveDocuments(tx, { companyId, documents: kept, now });
  const done = { load: applied.load, events: [] };
  const { load, events } = mayComplete(rule, visited) ? await completedIfDone(tx, route, applied.load) : done;
  if (load !== route.load) await updateLoadState(tx, { ...load, updatedAt: now });
  if (load.status === 40) {
    const place = route.place ?? (await placeOfEvent(tx, route, { rule, visited }));
    await updateProgress(tx, route, { place, pendingStops: () => pendingStops(tx, route, visited) });
  }
  // Last of all: messages to customers show driver, state and arrival as they are after this event.
  await recordEvents(tx, [...applied.events, ...events]);
}

/**
 * Applies the event that the body reports. Throws 980 or the faults of the body, 920, 932, 981, 982, 1505; then nothing
 * was written. An event that was reported before is fine: see above.
 */
export async function reportRouteEvent(deps: RouteReportDeps, input: RouteReport): Promise<void> {
  const taken = await keepContents(deps, input, await readSent(deps, input));
  const { geoStamp: stamp, routeNbr } = taken.event.body;
  const work = async (tx: Transaction) => {
    const route = await reportedRoute(tx, deps, { input, routeNbr, stamp });
    await applyEvent(tx, route, taken);
  };
  await deps.store.write(
    input.companyId,
    apart(() => [loadUnitKey(routeNbr)], work),
  );
}
