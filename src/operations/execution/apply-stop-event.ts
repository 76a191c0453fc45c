/**
 * The effect of an event of a stop: its state, its times, what was confirmed, and what is recorded
 * (specification/events.md#effects-of-route-events).
 */
import type { DocumentObject } from "../../domain/documents/document-object.ts";
import type { RecordedEventKind } from "../../domain/outbound/recorded-events.ts";
import type { StopEventData } from "../../domain/execution/route-event.ts";
import {
  departedStatus,
  routeEventRule,
  type RouteEventCode,
  type StopEventRule,
  type StopMoves,
  type StopVisits,
} from "../../domain/execution/route-event-rules.ts";
import {
  departed,
  isDepartureDue,
  type PartyExecution,
  type StopExecution,
  visitAfter,
} from "../../domain/execution/stop-execution.ts";
import type { StopDetail } from "../../domain/stop/stop-detail.ts";
import { type StopStatus, stopStatusNames } from "../../domain/stop/stop-status.ts";
import type { Stop } from "../../domain/stop/stop.ts";
import { DropgateError } from "../../lib/errors.ts";
import { listToldDocuments } from "../../store/stops/recorded-events.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import type { RecordedEvent } from "../consequences/recorded-event.ts";
import { refusal } from "../request-body.ts";
import {
  findRouteStop,
  listPendingStops,
  readStopBody,
  saveStopExecution,
} from "../../store/stops/route-stops.ts";
import {
  exceptionsOf,
  newDocuments,
  notAmong,
  type Occasion,
  shortDocument,
  withReported,
} from "./reported-data.ts";
import { readReportedStop, type ReportedRoute, type ReportedStop, reportData } from "./route-report.ts";

export interface StopEvent {
  readonly code: RouteEventCode;
  readonly rule: StopEventRule;
  /** Without content of documents. */
  readonly data: StopEventData;
}

/** The stop of an event, read. */
interface Visited extends ReportedStop {
  readonly execution: StopExecution;
}

interface Change {
  readonly status: StopStatus;
  readonly execution: StopExecution;
  readonly kinds: readonly RecordedEventKind[];
  /** Those of the event that the stop did not have. */
  readonly documents: readonly DocumentObject[];
}

/** Brings the stops of a load that leaves its origin on their way: 24 with a pickup, else 38. */
export async function departStops(tx: Transaction, route: ReportedRoute): Promise<void> {
  for (const row of await listPendingStops(tx, route.load.id)) {
    if (row.status !== "20") continue;
    const status = departedStatus(readReportedStop(row, route).visits);
    await saveStopExecution(tx, { id: row.id, status, execution: row.execution, updatedAt: route.now });
  }
}

async function findVisited(tx: Transaction, route: ReportedRoute, stopNbr: string): Promise<Visited> {
  const found = await findRouteStop(tx, { companyId: route.companyId, stopNbr });
  if (found === undefined || found.loadId !== route.load.id) {
    const message = `the stop ${stopNbr} is not on the load ${route.load.loadNbr}. Check stopEventData.stopNbr and routeNbr.`;
    throw refusal([{ code: "stopNotOnRoute", path: "stopEventData.stopNbr", message }]);
  }
  const read = readReportedStop(found, route);
  const execution = JSON.parse(found.execution) as StopExecution;
  if (found.status !== "20") return { ...read, execution };
  await departStops(tx, route);
  return { ...read, row: { ...found, status: departedStatus(read.visits) }, execution };
}

function outOfSequence({ row, visits }: Visited, code: RouteEventCode): DropgateError {
  const state = `${row.status} (${stopStatusNames[row.status]})`;
  const kind = {
    pickupOnly: "a pickup only",
    pickupAndDropoff: "a pickup and a drop-off",
    dropoffOnly: "a drop-off only",
  };
  return new DropgateError(
    "eventOutOfSequence",
    `${code} does not follow: the stop ${row.stopNbr} is ${state} and has ${kind[visits]}. Report the events in their order, each step once.`,
  );
}

function stateAfter(visited: Visited, { code, rule }: Pick<StopEvent, "code" | "rule">): StopStatus {
  const moves: StopMoves = rule.moves[visited.visits] ?? {};
  const next = moves[visited.row.status];
  const isDue = rule.step !== "departure" || isDepartureDue(visited.execution, rule.party);
  if (next === undefined || !isDue) throw outOfSequence(visited, code);
  return next;
}

async function detailsOf(tx: Transaction, { row }: Visited): Promise<readonly StopDetail[]> {
  const { stopDetails = [] } = JSON.parse(await readStopBody(tx, row.id)) as Stop;
  return stopDetails;
}

/** Whether the driver is taken to leave with this event: a confirmation, or the closing of a stop that was reached. */
function departsAtOnce(visit: PartyExecution, { rule, data }: StopEvent, isDefault: boolean): boolean {
  if (rule.step !== "confirmation" && rule.step !== "closed") return false;
  return visit.arrivalDTTM !== undefined && (data.autoDepart ?? visit.autoDepart ?? isDefault);
}

function departureStatus(visits: StopVisits, party: "from" | "to", status: StopStatus): StopStatus {
  const rule = routeEventRule(party === "from" ? "stop.pickup.departure" : "stop.dropoff.departure");
  const moves: StopMoves = (rule.kind === "stop" ? rule.moves[visits] : undefined) ?? {};
  return moves[status] ?? status;
}

interface ChangeSource {
  readonly visited: Visited;
  readonly event: StopEvent;
  /** Those of the stop, for events that confirm some. */
  readonly details: readonly StopDetail[];
}

function changeOf(route: ReportedRoute, { visited, event, details }: ChangeSource): Change {
  const { rule, data } = event;
  const time = route.stamp;
  const isArrivalImplied = rule.impliesArrivalIn.includes(visited.row.status);
  const status = stateAfter(visited, event);
  const reached = visitAfter(visited.execution[rule.party] ?? {}, { rule, time, isArrivalImplied });
  const { autoDepart } = data;
  const saysDeparture = rule.step === "arrival" && autoDepart !== undefined;
  const visit = saysDeparture ? { ...reached, autoDepart } : reached;
  const isLeaving = departsAtOnce(visit, event, route.settings.autoDepart);
  const documents = newDocuments(visited.execution, data);
  return {
    status: isLeaving ? departureStatus(visited.visits, rule.party, status) : status,
    execution: {
      ...withReported(visited.execution, { data, rule, details }, "step"),
      [rule.party]: isLeaving ? departed(visit, time, true) : visit,
    },
    kinds: [
      ...(isArrivalImplied ? (["stopArrival"] as const) : []),
      rule.recorded,
      ...(documents.length > 0 ? (["documentCapture"] as const) : []),
      ...(isLeaving ? (["stopDeparture"] as const) : []),
    ],
    documents,
  };
}

/** The events of a report about the stop, in the order in which they are to be recorded. */
function eventsOf(
  route: ReportedRoute,
  { code, data, rule }: StopEvent,
  { kinds, documents }: Pick<Change, "kinds" | "documents">,
): readonly RecordedEvent[] {
  const [exception] = exceptionsOf(data, rule);
  const { reasonCode, reasonComments } = data;
  const said = { ...exception, reasonCode, reasonComments };
  const { companyId, now, load } = route;
  return kinds.map((kind) => ({
    ...{ companyId, kind, stopNbr: data.stopNbr, loadNbr: load.loadNbr, recordedAt: now },
    data: {
      ...{ ...reportData(route), reportedCode: code },
      ...(kind === rule.recorded ? said : undefined),
      ...(kind === "documentCapture" ? { documents: documents.map(shortDocument) } : {}),
    },
  }));
}

/**
 * A departure that was assumed with the confirmation needs no report; one that is reported all the same has no step to
 * do.
 */
function isDepartedAlready({ execution }: Visited, rule: StopEventRule): boolean {
  return rule.step === "departure" && execution[rule.party]?.isAutoDeparture === true;
}

/** What an event adds to a stop whose step was done before: its state and its times stay. */
function lateChangeOf({ visited, event, details }: ChangeSource, occasion: Occasion): Change {
  const { data, rule } = event;
  const documents = newDocuments(visited.execution, data);
  return {
    status: visited.row.status,
    execution: withReported(visited.execution, { data, rule, details }, occasion),
    kinds: documents.length > 0 ? ["documentCapture"] : [],
    documents,
  };
}

export interface AppliedStopEvent {
  /** As it is now. */
  readonly stop: ReportedStop;
  /** To be recorded, in this order, once all changes of the report are written. */
  readonly events: readonly RecordedEvent[];
}

async function applied(
  tx: Transaction,
  route: ReportedRoute,
  { visited, event, change }: { visited: Visited; event: StopEvent; change: Change },
): Promise<AppliedStopEvent> {
  const { status } = change;
  const execution = JSON.stringify(change.execution);
  const { row } = visited;
  if (status !== row.status || execution !== row.execution)
    await saveStopExecution(tx, { id: row.id, status, execution, updatedAt: route.now });
  const stop = { ...visited, row: { ...row, status, execution } };
  return { stop, events: eventsOf(route, event, change) };
}

// Most events confirm no details.
async function sourceOf(tx: Transaction, visited: Visited, event: StopEvent): Promise<ChangeSource> {
  const details = (event.data.stopDetails ?? []).length === 0 ? [] : await detailsOf(tx, visited);
  return { visited, event, details };
}

/**
 * Applies the event in the transaction, but for recording it. Throws 982, 981, or 901 and 902 for details that the stop
 * does not have.
 */
export async function applyStopEvent(
  tx: Transaction,
  route: ReportedRoute,
  event: StopEvent,
): Promise<AppliedStopEvent> {
  const visited = await findVisited(tx, route, event.data.stopNbr);
  const source = await sourceOf(tx, visited, event);
  const change = isDepartedAlready(visited, event.rule)
    ? lateChangeOf(source, "late")
    : changeOf(route, source);
  return await applied(tx, route, { visited, event, change });
}

/** The stop has left the load since, by another import: the event no longer belongs to it, but its documents are recorded. */
async function lateForGoneStop(
  tx: Transaction,
  route: ReportedRoute,
  event: StopEvent,
): Promise<readonly RecordedEvent[]> {
  const { documents: brought = [], stopNbr } = event.data;
  if (brought.length === 0) return [];
  const { companyId, load } = route;
  const told = await listToldDocuments(tx, { companyId, stopNbr, loadNbr: load.loadNbr });
  const documents = notAmong(told, brought.map(shortDocument));
  return documents.length === 0 ? [] : eventsOf(route, event, { kinds: ["documentCapture"], documents });
}

/**
 * Keeps the new data of an event that was reported before: so documents can come late, and an event that is sent again
 * because its answer was lost changes nothing. Throws 901 and 902 for details that the stop does not have.
 */
export async function applyRepeatedStopEvent(
  tx: Transaction,
  route: ReportedRoute,
  event: StopEvent,
): Promise<readonly RecordedEvent[]> {
  const { data } = event;
  const found = await findRouteStop(tx, { companyId: route.companyId, stopNbr: data.stopNbr });
  if (found === undefined || found.loadId !== route.load.id) return await lateForGoneStop(tx, route, event);
  const visited = {
    ...readReportedStop(found, route),
    execution: JSON.parse(found.execution) as StopExecution,
  };
  const change = lateChangeOf(await sourceOf(tx, visited, event), "again");
  return (await applied(tx, route, { visited, event, change })).events;
}
