/** The effect of an event of a stop: its state, its times, what was confirmed, and what is recorded (decisions 4). */
import { isDeepStrictEqual } from "node:util";
import type { DocumentObject } from "../domain/document-object.ts";
import type { RecordedEventKind } from "../domain/recorded-events.ts";
import type { StopEventData } from "../domain/route-event.ts";
import {
  departedStatus,
  routeEventRule,
  type RouteEventCode,
  type StopEventRule,
  type StopMoves,
  type StopVisits,
} from "../domain/route-event-rules.ts";
import {
  departed,
  isDepartureDue,
  type PartyExecution,
  type StopException,
  type StopExecution,
  visitAfter,
} from "../domain/stop-execution.ts";
import type { StopDetail } from "../domain/stop-detail.ts";
import { type StopStatus, stopStatusNames } from "../domain/stop-status.ts";
import type { Stop } from "../domain/stop.ts";
import { DropgateError } from "../lib/errors.ts";
import type { Transaction } from "../store/group-commit.ts";
import { recordEvents } from "../store/recorded-events.ts";
import { findRouteStop, listPendingStops, readStopBody, saveStopExecution } from "../store/route-stops.ts";
import { confirmDetails } from "./confirmed-details.ts";
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
  const found = await findRouteStop(tx, route.companyId, stopNbr);
  if (found === undefined || found.loadId !== route.load.id) {
    const message = `the stop ${stopNbr} is not on the load ${route.load.loadNbr}. Check stopEventData.stopNbr and routeNbr.`;
    throw new DropgateError("stopNotOnRoute", message, {
      faults: [{ code: "stopNotOnRoute", path: "stopEventData.stopNbr", message }],
    });
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

function exceptionOf(code: string | number | undefined, text: string | undefined): StopException {
  return {
    ...(code === undefined ? {} : { exceptionCode: String(code) }),
    ...(text === undefined ? {} : { exceptionDesc: text }),
  };
}

/** A closed stop has its reason; hosts look for it among the exceptions. Both are kept where one would hide the other. */
function exceptionsOf(data: StopEventData, rule: StopEventRule): readonly StopException[] {
  const { exceptionCode, exceptionDesc, reasonCode, reasonComments } = data;
  if ((exceptionCode ?? exceptionDesc ?? reasonCode ?? reasonComments) === undefined) return [];
  const exception = exceptionOf(exceptionCode, exceptionDesc);
  const reason = rule.step === "closed" ? exceptionOf(reasonCode, reasonComments) : {};
  const merged = { ...reason, ...exception };
  const isHidden = !isDeepStrictEqual({ ...merged, ...reason }, merged);
  const all = isHidden ? [exception, reason] : [merged];
  return all.filter((one) => Object.keys(one).length > 0);
}

async function detailsOf(tx: Transaction, { row }: Visited): Promise<readonly StopDetail[]> {
  const { stopDetails = [] } = JSON.parse(await readStopBody(tx, row.id)) as Stop;
  return stopDetails;
}

function withLists(
  { execution }: Visited,
  { data, rule }: StopEvent,
  details: readonly StopDetail[],
): StopExecution {
  const exceptions = exceptionsOf(data, rule);
  const { documents = [], stopDetails = [] } = data;
  const confirmed =
    stopDetails.length === 0
      ? execution.confirmed
      : confirmDetails(execution.confirmed, details, stopDetails);
  return {
    ...execution,
    ...(exceptions.length === 0 ? {} : { exceptions: [...(execution.exceptions ?? []), ...exceptions] }),
    ...(documents.length === 0 ? {} : { documents: [...(execution.documents ?? []), ...documents] }),
    ...(confirmed === undefined ? {} : { confirmed }),
  };
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
  return {
    status: isLeaving ? departureStatus(visited.visits, rule.party, status) : status,
    execution: {
      ...withLists(visited, event, details),
      [rule.party]: isLeaving ? departed(visit, time, true) : visit,
    },
    kinds: [
      ...(isArrivalImplied ? (["stopArrival"] as const) : []),
      rule.recorded,
      ...((data.documents ?? []).length > 0 ? (["documentCapture"] as const) : []),
      ...(isLeaving ? (["stopDeparture"] as const) : []),
    ],
  };
}

function shortDocument({ documentData: _content, docSignatories: _signatories, ...rest }: DocumentObject) {
  return rest;
}

function recordAll(
  tx: Transaction,
  route: ReportedRoute,
  recorded: { readonly event: StopEvent; readonly kinds: readonly RecordedEventKind[] },
): Promise<void> {
  const { code, data, rule } = recorded.event;
  const [exception] = exceptionsOf(data, rule);
  const { reasonCode, reasonComments } = data;
  const said = { ...exception, reasonCode, reasonComments };
  const { companyId, now, load } = route;
  const events = recorded.kinds.map((kind) => ({
    ...{ companyId, kind, stopNbr: data.stopNbr, loadNbr: load.loadNbr, recordedAt: now },
    data: {
      ...{ ...reportData(route), reportedCode: code },
      ...(kind === rule.recorded ? said : undefined),
      ...(kind === "documentCapture" ? { documents: data.documents?.map(shortDocument) } : {}),
    },
  }));
  return recordEvents(tx, events);
}

/** A departure that was taken to be with the confirmation needs no report; one that comes all the same changes nothing. */
function isDepartedAlready({ execution }: Visited, rule: StopEventRule): boolean {
  return rule.step === "departure" && execution[rule.party]?.isAutoDeparture === true;
}

/**
 * Applies the event in the transaction; gives the stop as it is then. Throws 982, 981, or 901 and 902 for details that
 * the stop has not.
 */
export async function applyStopEvent(
  tx: Transaction,
  route: ReportedRoute,
  event: StopEvent,
): Promise<ReportedStop> {
  const visited = await findVisited(tx, route, event.data.stopNbr);
  if (isDepartedAlready(visited, event.rule)) return visited;
  // Most events confirm no details.
  const details = (event.data.stopDetails ?? []).length === 0 ? [] : await detailsOf(tx, visited);
  const { status, execution: executed, kinds } = changeOf(route, { visited, event, details });
  const execution = JSON.stringify(executed);
  await saveStopExecution(tx, { id: visited.row.id, status, execution, updatedAt: route.now });
  await recordAll(tx, route, { event, kinds });
  return { ...visited, row: { ...visited.row, status, execution } };
}
