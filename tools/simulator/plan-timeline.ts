/**
 * Plans what is reported of a load: each request with its simulated time, legal by `routeEventRules`
 * (specification/events.md#effects-of-route-events).
 *
 *   driver assigned -> initiated -> origin arrival, departure -> { positions -> visit } ... -> positions -> depot arrival
 *
 *   visit: [arrival] -> confirmation (or closed) -> [departure]
 *
 * What is in brackets is left out now and then. A pickup that is closed takes its drop-off out of the way. At the end
 * some requests are made late and some are repeated: neither changes the outcome.
 */
import type { GeoPoint } from "../../src/domain/execution/geo-point.ts";
import type { RouteEventCode } from "../../src/domain/execution/route-event-rules.ts";
import { type Journey, noteReport, stampOf, type TimelineInput } from "./journey.ts";
import type { LoadPlan } from "./day-plan.ts";
import { driveMs, loadingMinutes, type PlannedVisit } from "./plan-load.ts";
import type { Random } from "./random.ts";
import { closingOf, confirmationOf, documentsOf } from "./report-bodies.ts";
import { withLateReports, withRepeats } from "./vary-timeline.ts";
import { wrongReports } from "./wrong-reports.ts";
import { minuteMs } from "../../src/lib/durations.ts";

function reportRoute(journey: Journey, eventCode: RouteEventCode): void {
  const body = { eventCode, geoStamp: stampOf(journey), routeNbr: journey.loadNbr };
  noteReport(journey, { kind: "routeEvent", body });
}

function reportStop(journey: Journey, eventCode: RouteEventCode, stopEventData: object): void {
  const body = { eventCode, geoStamp: stampOf(journey), routeNbr: journey.loadNbr, stopEventData };
  noteReport(journey, { kind: "stopEvent", body });
}

function pass(journey: Journey, minutes: number): void {
  journey.at += Math.round(minutes * 60) * 1_000;
}

function between(from: GeoPoint, to: GeoPoint, share: number): GeoPoint {
  return {
    latitude: from.latitude + (to.latitude - from.latitude) * share,
    longitude: from.longitude + (to.longitude - from.longitude) * share,
  };
}

/** Drives to the place with a position every so many seconds; traffic makes it faster or slower than planned. */
function driveTo(journey: Journey, to: GeoPoint): void {
  const { place: from, at: startAt, options, random, loadNbr } = journey;
  const seconds = Math.max(60, Math.round((driveMs(from, to) / 1_000) * random.between(0.85, 1.3)));
  const endAt = startAt + seconds * 1_000;
  journey.nextPositionAt = Math.max(journey.nextPositionAt, startAt);
  while (options.gpsSeconds > 0 && journey.nextPositionAt < endAt) {
    journey.at = journey.nextPositionAt;
    journey.place = between(from, to, (journey.at - startAt) / (endAt - startAt));
    noteReport(journey, {
      kind: "gpsPosition",
      body: { geoStamp: stampOf(journey), routeNbr: loadNbr },
    });
    journey.nextPositionAt += options.gpsSeconds * 1_000;
  }
  journey.at = endAt;
  journey.place = to;
}

function codeOf({ party }: PlannedVisit, step: "arrival" | "confirmation" | "closed" | "departure") {
  return party === "from" ? (`stop.pickup.${step}` as const) : (`stop.dropoff.${step}` as const);
}

/** Who says, and in which event, that the departure is with the confirmation; else it is reported, or not at all. */
type DepartureKind = "withArrival" | "withConfirmation" | "reported" | "untold";

function departureKindOf(random: Random): DepartureKind {
  const dice = random.next();
  if (dice < 0.1) return "withArrival";
  if (dice < 0.4) return "withConfirmation";
  return dice < 0.9 ? "reported" : "untold";
}

function close(journey: Journey, visit: PlannedVisit, isArrived: boolean): void {
  const { random, work, progress } = journey;
  const [planned, reached] = [work.stops[visit.stop], progress[visit.stop]];
  if (planned === undefined || reached === undefined) return;
  const { stopNbr } = planned.stop;
  reached.status = "80";
  reportStop(journey, codeOf(visit, "closed"), { stopNbr, ...closingOf(random) });
  if (!isArrived || random.chance(0.3)) return;
  pass(journey, 1);
  reportStop(journey, codeOf(visit, "departure"), { stopNbr });
}

function confirm(journey: Journey, visit: PlannedVisit, departure: DepartureKind): void {
  const { random, work, progress } = journey;
  const [planned, reached] = [work.stops[visit.stop], progress[visit.stop]];
  if (planned === undefined || reached === undefined) return;
  const { stop, visits } = planned;
  const { stopDetails, confirmed, isShort } = confirmationOf(stop, visit.party, random);
  const documents = visit.party === "to" ? documentsOf(stop, random) : [];
  reportStop(journey, codeOf(visit, "confirmation"), {
    stopNbr: stop.stopNbr,
    ...(departure === "withConfirmation" ? { autoDepart: true } : {}),
    ...(isShort ? { exceptionCode: "QUANTITY", exceptionDesc: "not all as ordered" } : {}),
    stopDetails,
    ...(documents.length > 0 ? { documents } : {}),
  });
  reached.status = visits === "pickupAndDropoff" && visit.party === "from" ? "30" : "90";
  reached.confirmed = confirmed.map((one, index) => ({ ...reached.confirmed[index], ...one }));
  if (departure !== "reported") return;
  pass(journey, random.whole(1, 3));
  reportStop(journey, codeOf(visit, "departure"), { stopNbr: stop.stopNbr });
}

function visitStop(journey: Journey, visit: PlannedVisit): void {
  const { random, work, progress } = journey;
  const [planned, reached] = [work.stops[visit.stop], progress[visit.stop]];
  if (planned === undefined || reached === undefined || reached.status === "80") return;
  driveTo(journey, visit.place);
  const isClosed = random.chance(0.07);
  const departure = isClosed ? "reported" : departureKindOf(random);
  const isArrived = departure === "withArrival" || random.chance(0.9);
  if (isArrived) {
    const auto = departure === "withArrival" ? { autoDepart: true } : {};
    reportStop(journey, codeOf(visit, "arrival"), { stopNbr: planned.stop.stopNbr, ...auto });
  }
  pass(journey, Math.max(2, visit.minutes * random.between(0.6, 1.5)));
  if (isClosed) close(journey, visit, isArrived);
  else confirm(journey, visit, departure);
}

function leaveDepot(journey: Journey): void {
  const { random, assignment, options } = journey;
  if (assignment === "request") assignDriver(journey);
  reportRoute(journey, "route.initiated");
  pass(journey, random.whole(1, 5));
  if (random.chance(0.9)) reportRoute(journey, "route.origin.arrival");
  pass(journey, loadingMinutes * random.between(0.6, 1.4));
  reportRoute(journey, "route.origin.depart");
  if (options.faults) for (const report of wrongReports(journey)) noteReport(journey, report);
}

/** The host does it, some time before the driver begins. */
function assignDriver({ requests, loadNbr, driver, at }: Journey): void {
  requests.push({
    kind: "driverAssignment",
    at: at - 5 * minuteMs,
    sender: undefined,
    path: `/v5/load/assign/driver/${loadNbr}`,
    body: JSON.stringify({ driverUserName: driver }),
    refusal: undefined,
    isRepeat: false,
  });
}

/** All that is sent of the load after its import, and what is then to be read of it. */
export function planTimeline(input: TimelineInput): LoadPlan {
  const { work, driver, random } = input;
  const { loadNbr } = work.header;
  const journey: Journey = {
    ...input,
    loadNbr,
    at: work.startAt,
    place: work.depot,
    nextPositionAt: work.startAt,
    requests: [],
    progress: work.stops.map(() => ({ status: "20", confirmed: [] })),
  };
  leaveDepot(journey);
  for (const visit of work.visits) visitStop(journey, visit);
  if (work.isReturning) {
    driveTo(journey, work.depot);
    reportRoute(journey, "route.depot.arrival");
  }
  const stops = work.stops.map(({ stop: { stopNbr } }, index) => {
    const { status: stopStatus = "20", confirmed = [] } = journey.progress[index] ?? {};
    return { stopNbr, stopStatus, confirmed };
  });
  return {
    loadNbr,
    requests: withRepeats(withLateReports(journey.requests, random), random),
    outcome: { loadStatus: 90, driverUserName: driver, stops },
  };
}
