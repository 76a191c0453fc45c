/**
 * The table of route events (specification/events.md#effects-of-route-events): what each needs, what it does to a load
 * or a stop, and what is recorded.
 *
 *   load 10 20 30 ── initiated ──> 40 ── every stop final, and back at the depot if it must ──> 90
 *
 *   pickup only         20 ─ origin.depart ─> 24 ─ arrival ─> 27 ─ confirmation ─> 90
 *   pickup and drop-off 20 ─ origin.depart ─> 24 ─ arrival ─> 27 ─ confirmation ─> 30 ─ departure ─> 38 ─> as below
 *   drop-off only       20 ─ origin.depart ─> 38 ─ arrival ─> 50 ─ confirmation ─> 90
 *   closed              24 27 ─ pickup.closed ─> 80          30 38 50 ─ dropoff.closed ─> 80
 *
 * An arrival before a confirmation may be left out, and so may departures: the first event of a stop says that the load
 * has left its origin, and the arrival at the drop-off that the stop has left its pickup. Anything else out of order is
 * refused (981).
 */
import type { LoadStatus } from "../load/load-status.ts";
import type { RecordedEventKind } from "../outbound/recorded-events.ts";
import type { StopStatus } from "../stop/stop-status.ts";

/** Which visits a stop has: `pickupOnly` is a stop of the type PU, which completes at its pickup. */
export type StopVisits = "pickupOnly" | "pickupAndDropoff" | "dropoffOnly";

export type StopStep = "arrival" | "confirmation" | "closed" | "departure";
export type RouteStep = "initiated" | "originArrival" | "originDeparture" | "depotArrival";

interface LoadRule {
  readonly kind: "load";
  readonly step: RouteStep;
  readonly loadStates: readonly LoadStatus[];
  /** Recorded at once; 7005 follows whenever the load completes. */
  readonly recorded: RecordedEventKind | undefined;
}

/** From the state before to the state after; a state that is not there refuses the event. */
export type StopMoves = Readonly<Partial<Record<StopStatus, StopStatus>>>;

export interface StopEventRule {
  readonly kind: "stop";
  readonly step: StopStep;
  /** `from` is the pickup, `to` the drop-off: where its times are kept. */
  readonly party: "from" | "to";
  readonly loadStates: readonly LoadStatus[];
  /** By the visits that the stop has; visits that are not there refuse the event. */
  readonly moves: Readonly<Partial<Record<StopVisits, StopMoves>>>;
  /** States in which the arrival has not been reported: it is recorded with this event. */
  readonly impliesArrivalIn: readonly StopStatus[];
  readonly recorded: RecordedEventKind;
}

const underWay: readonly LoadStatus[] = [40];
/** The last confirmation completes the load: the departure that follows it finds it completed. */
const underWayOrDone: readonly LoadStatus[] = [40, 90];

const pickupClosed: StopMoves = { "24": "80", "27": "80" };
const dropoffArrival: StopMoves = { "38": "50" };
const dropoffConfirmed: StopMoves = { "38": "90", "50": "90" };
const dropoffClosed: StopMoves = { "38": "80", "50": "80" };
const dropoffDeparted: StopMoves = { "80": "80", "90": "90" };

export const routeEventRules = {
  "route.initiated": {
    kind: "load",
    step: "initiated",
    loadStates: [10, 20, 30],
    recorded: "loadInitiated",
  },
  "route.origin.arrival": {
    kind: "load",
    step: "originArrival",
    loadStates: underWay,
    recorded: undefined,
  },
  "route.origin.depart": {
    kind: "load",
    step: "originDeparture",
    loadStates: underWay,
    recorded: undefined,
  },
  "route.depot.arrival": {
    kind: "load",
    step: "depotArrival",
    loadStates: underWay,
    recorded: undefined,
  },
  "stop.pickup.arrival": {
    kind: "stop",
    step: "arrival",
    party: "from",
    loadStates: underWay,
    moves: { pickupOnly: { "24": "27" }, pickupAndDropoff: { "24": "27" } },
    impliesArrivalIn: [],
    recorded: "stopArrival",
  },
  "stop.pickup.confirmation": {
    kind: "stop",
    step: "confirmation",
    party: "from",
    loadStates: underWay,
    moves: { pickupOnly: { "24": "90", "27": "90" }, pickupAndDropoff: { "24": "30", "27": "30" } },
    impliesArrivalIn: ["24"],
    recorded: "stopDelivery",
  },
  "stop.pickup.closed": {
    kind: "stop",
    step: "closed",
    party: "from",
    loadStates: underWay,
    moves: { pickupOnly: pickupClosed, pickupAndDropoff: pickupClosed },
    impliesArrivalIn: [],
    recorded: "stopClosed",
  },
  "stop.pickup.departure": {
    kind: "stop",
    step: "departure",
    party: "from",
    loadStates: underWayOrDone,
    moves: { pickupOnly: { "80": "80", "90": "90" }, pickupAndDropoff: { "30": "38", "80": "80" } },
    impliesArrivalIn: [],
    recorded: "stopDeparture",
  },
  "stop.dropoff.arrival": {
    kind: "stop",
    step: "arrival",
    party: "to",
    loadStates: underWay,
    moves: { pickupAndDropoff: { "30": "50", ...dropoffArrival }, dropoffOnly: dropoffArrival },
    impliesArrivalIn: [],
    recorded: "stopArrival",
  },
  "stop.dropoff.confirmation": {
    kind: "stop",
    step: "confirmation",
    party: "to",
    loadStates: underWay,
    moves: { pickupAndDropoff: { "30": "90", ...dropoffConfirmed }, dropoffOnly: dropoffConfirmed },
    impliesArrivalIn: ["30", "38"],
    recorded: "stopDelivery",
  },
  "stop.dropoff.closed": {
    kind: "stop",
    step: "closed",
    party: "to",
    loadStates: underWay,
    moves: { pickupAndDropoff: { "30": "80", ...dropoffClosed }, dropoffOnly: dropoffClosed },
    impliesArrivalIn: [],
    recorded: "stopClosed",
  },
  "stop.dropoff.departure": {
    kind: "stop",
    step: "departure",
    party: "to",
    loadStates: underWayOrDone,
    moves: { pickupAndDropoff: dropoffDeparted, dropoffOnly: dropoffDeparted },
    impliesArrivalIn: [],
    recorded: "stopDeparture",
  },
} as const satisfies Readonly<Record<string, LoadRule | StopEventRule>>;

export type RouteEventCode = keyof typeof routeEventRules;

export const routeEventCodes = Object.keys(routeEventRules) as readonly RouteEventCode[];

export function isRouteEventCode(text: string): text is RouteEventCode {
  return Object.hasOwn(routeEventRules, text);
}

export type RouteEventRule = LoadRule | StopEventRule;

export function routeEventRule(code: RouteEventCode): RouteEventRule {
  return routeEventRules[code];
}

const finishingSteps = new Set<StopStep | RouteStep>([
  ...(["originDeparture", "depotArrival", "confirmation", "closed"] as const),
]);

/** Whether such an event can complete a load: later events (departures) are not waited for. */
export function mayFinishLoad(code: string): boolean {
  return isRouteEventCode(code) && finishingSteps.has(routeEventRules[code].step);
}

/** The state of a planned stop (20) when its load leaves the origin. */
export function departedStatus(visits: StopVisits): StopStatus {
  return visits === "dropoffOnly" ? "38" : "24";
}

/** The next address that the driver goes to for the stop, by its state; undefined when there is none any more. */
export function nextParty(status: StopStatus, visits: StopVisits): "from" | "to" | undefined {
  switch (status) {
    case "24":
    case "27":
      return "from";
    case "30":
    case "38":
    case "50":
      return "to";
    case "20":
      return visits === "dropoffOnly" ? "to" : "from";
    default:
      return undefined;
  }
}
