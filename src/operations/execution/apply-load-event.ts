/**
 * The effect of an event of the whole route, and the completion of a load
 * (specification/events.md#effects-of-route-events).
 */
import { loadStatusNames } from "../../domain/load/load-status.ts";
import {
  mayFinishLoad,
  type RouteEventCode,
  type RouteEventRule,
} from "../../domain/execution/route-event-rules.ts";
import type { LoadExecution, ReportedTime } from "../../domain/execution/stop-execution.ts";
import { mustReturnToDepot } from "../../domain/execution/stop-visits.ts";
import { momentOf } from "../../domain/time/zoned-time.ts";
import { DropgateError } from "../../lib/errors.ts";
import { type Driver, findDriversBy } from "../../store/accounts/drivers.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import type { StoredLoad } from "../../store/stops/load-queries.ts";
import { updateLoad } from "../../store/stops/loads.ts";
import type { RecordedEvent } from "../consequences/recorded-event.ts";
import { listReportTimes } from "../../store/stops/route-reports.ts";
import { listStopStates } from "../../store/stops/route-stops.ts";
import { departStops } from "./apply-stop-event.ts";
import { isLoadDone } from "../loads/complete-load.ts";
import { drivenBy } from "../loads/load-driver.ts";
import { isDriver, type ReportedRoute, reportData } from "./route-report.ts";

export interface LoadEvent {
  readonly code: RouteEventCode;
  readonly rule: Extract<RouteEventRule, { kind: "load" }>;
}

function outOfSequence(code: RouteEventCode, why: string): DropgateError {
  return new DropgateError(
    "eventOutOfSequence",
    `${code} does not follow: ${why}. Report the events in their order, each step once.`,
  );
}

/** Throws 981 unless the load is in a state that allows the event. */
export function checkLoadState({ load }: ReportedRoute, code: RouteEventCode, rule: RouteEventRule): void {
  if (rule.loadStates.includes(load.status)) return;
  const state = `${load.status} (${loadStatusNames[load.status]})`;
  throw outOfSequence(code, `the load ${load.loadNbr} is ${state}`);
}

function changed(load: StoredLoad, change: Partial<StoredLoad>, execution: LoadExecution): StoredLoad {
  return { ...load, ...change, execution: JSON.stringify(execution) };
}

function eventOf(
  { companyId, load, now, stamp, userName }: ReportedRoute,
  kind: "loadAssigned" | "loadInitiated" | "loadCompleted",
): RecordedEvent {
  const { loadNbr } = load;
  return { companyId, kind, loadNbr, recordedAt: now, data: reportData({ stamp, userName }) };
}

export interface AppliedLoadEvent {
  /** The load to be stored. */
  readonly load: StoredLoad;
  /** To be recorded, in this order, once all changes of the report are written. */
  readonly events: readonly RecordedEvent[];
}

/** The caller as the driver of a load that has none. Throws 1505 when the caller is none. */
async function driverOf(tx: Transaction, route: ReportedRoute): Promise<Driver> {
  const { load, companyId, userName } = route;
  const [driver] = isDriver(route.roles)
    ? await findDriversBy(tx, companyId, { key: "userName", value: userName })
    : [];
  if (driver !== undefined && !driver.isUnableToUseApp) return driver;
  throw new DropgateError(
    "driverRequired",
    `a driver is required: the load ${load.loadNbr} has none. Assign one, or let the driver report the event.`,
  );
}

async function initiate(tx: Transaction, route: ReportedRoute): Promise<AppliedLoadEvent> {
  const { eventDTTM, eventTz } = route.stamp;
  const start = { actualStartDTTM: eventDTTM, actualStartTimeZone: eventTz };
  const started = changed(route.load, { status: 40 }, { ...route.execution, ...start });
  if (started.driverUserId !== null) return { load: started, events: [eventOf(route, "loadInitiated")] };
  const driver = await driverOf(tx, route);
  const load = { ...started, ...drivenBy(driver) };
  await updateLoad(tx, { ...load, updatedAt: route.now });
  return { load, events: [eventOf(route, "loadAssigned"), eventOf(route, "loadInitiated")] };
}

async function checkAtOrigin(tx: Transaction, route: ReportedRoute, code: RouteEventCode): Promise<void> {
  const hasLeft =
    route.execution.originDepartureDTTM !== undefined ||
    (await listStopStates(tx, route.load.id)).some((status) => status !== "20");
  if (hasLeft) throw outOfSequence(code, `the load ${route.load.loadNbr} has left its origin`);
}

async function arriveAtOrigin(
  tx: Transaction,
  route: ReportedRoute,
  code: RouteEventCode,
): Promise<StoredLoad> {
  await checkAtOrigin(tx, route, code);
  if (route.execution.originArrivalDTTM !== undefined)
    throw outOfSequence(code, `the load ${route.load.loadNbr} is at its origin already`);
  return changed(route.load, {}, { ...route.execution, originArrivalDTTM: route.stamp.eventDTTM });
}

async function leaveOrigin(tx: Transaction, route: ReportedRoute, code: RouteEventCode): Promise<StoredLoad> {
  await checkAtOrigin(tx, route, code);
  await departStops(tx, route);
  return changed(route.load, {}, { ...route.execution, originDepartureDTTM: route.stamp.eventDTTM });
}

function arriveAtDepot({ load, header, execution, stamp }: ReportedRoute, code: RouteEventCode): StoredLoad {
  if (!mustReturnToDepot(header)) throw outOfSequence(code, `the load ${load.loadNbr} has no returnToDepot`);
  if (execution.depotArrivalDTTM !== undefined)
    throw outOfSequence(code, `the load ${load.loadNbr} is back at the depot already`);
  return changed(load, {}, { ...execution, depotArrivalDTTM: stamp.eventDTTM });
}

/** Applies the event in the transaction, but for recording it and keeping the load. Throws 981 or 1505. */
export async function applyLoadEvent(
  tx: Transaction,
  route: ReportedRoute,
  { code, rule }: LoadEvent,
): Promise<AppliedLoadEvent> {
  switch (rule.step) {
    case "initiated":
      return await initiate(tx, route);
    case "originArrival":
      return { load: await arriveAtOrigin(tx, route, code), events: [] };
    case "originDeparture":
      return { load: await leaveOrigin(tx, route, code), events: [] };
    case "depotArrival":
      return { load: arriveAtDepot(route, code), events: [] };
  }
}

/** The latest time of the reports that complete the load: one of a stop before may come after that of the last. */
async function endOf(tx: Transaction, { load, at, stamp }: ReportedRoute): Promise<ReportedTime> {
  let end: ReportedTime & { readonly at: number } = { ...stamp, at };
  for (const { eventCode, eventDTTM, eventTz } of await listReportTimes(tx, { loadId: load.id })) {
    if (!mayFinishLoad(eventCode)) continue;
    const reportedAt = momentOf(eventDTTM, eventTz);
    if (reportedAt > end.at) end = { eventDTTM, eventTz, at: reportedAt };
  }
  return { eventDTTM: end.eventDTTM, eventTz: end.eventTz };
}

/**
 * The load completed (90, 7005) when nothing is left to do, at the time of the latest report that did it; else
 * unchanged.
 */
export async function completedIfDone(
  tx: Transaction,
  route: ReportedRoute,
  load: StoredLoad,
): Promise<AppliedLoadEvent> {
  const execution = load === route.load ? route.execution : (JSON.parse(load.execution) as LoadExecution);
  if (!(await isLoadDone(tx, { load, header: route.header, execution }))) return { load, events: [] };
  const { eventDTTM, eventTz } = await endOf(tx, route);
  const end = { actualEndDTTM: eventDTTM, actualEndTimeZone: eventTz };
  const stamp = { ...route.stamp, eventDTTM, eventTz };
  return {
    load: changed(load, { status: 90 }, { ...execution, ...end }),
    events: [eventOf({ ...route, stamp }, "loadCompleted")],
  };
}
