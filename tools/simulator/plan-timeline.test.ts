/** Walks planned days by the table of route events, as the gateway does, without the code that made them. */
import { describe, expect, test } from "vitest";
import type { Load } from "../../src/domain/load/load.ts";
import type { RouteEvent } from "../../src/domain/execution/route-event.ts";
import {
  departedStatus,
  isRouteEventCode,
  type RouteEventCode,
  routeEventRule,
  type StopEventRule,
  type StopMoves,
  type StopVisits,
} from "../../src/domain/execution/route-event-rules.ts";
import { isFinalStopStatus, type StopStatus } from "../../src/domain/stop/stop-status.ts";
import { mustReturnToDepot, visitsOf } from "../../src/domain/execution/stop-visits.ts";
import type { DayPlan, LoadPlan } from "./day-plan.ts";
import { planDay } from "./plan-day.ts";

interface WalkedStop {
  readonly visits: StopVisits;
  status: StopStatus;
  /** Visits whose arrival is known and whose departure is not, and what the arrival said of it. */
  readonly present: Map<"from" | "to", boolean>;
}

interface Walk {
  readonly load: Load;
  readonly stops: ReadonlyMap<string, WalkedStop>;
  status: 30 | 40 | 90;
  isBack: boolean;
  hasLeft: boolean;
}

function importedLoad({ imports }: DayPlan, loadNbr: string): Load {
  const all = imports.flatMap(({ request }) => (JSON.parse(request.body) as { loads: Load[] }).loads);
  const load = all.find(({ loadHeader }) => loadHeader.loadNbr === loadNbr);
  if (load === undefined) throw new Error(`${loadNbr} is not imported`);
  return load;
}

function begin(load: Load): Walk {
  const stops = (load.stops ?? []).map((stop): [string, WalkedStop] => [
    stop.stopNbr,
    { visits: visitsOf(stop, load.loadHeader), status: "20", present: new Map() },
  ]);
  return { load, stops: new Map(stops), status: 30, isBack: false, hasLeft: false };
}

function must(isTrue: boolean, message: string): void {
  if (!isTrue) throw new Error(message);
}

function walkStop(walk: Walk, code: RouteEventCode, rule: StopEventRule, event: RouteEvent): void {
  const { stopNbr = "", autoDepart } = event.stopEventData ?? {};
  const stop = walk.stops.get(stopNbr);
  if (stop === undefined) throw new Error(`${stopNbr} is not on the load`);
  must(walk.hasLeft, `${code} before the departure from the origin`);
  const moves: StopMoves = rule.moves[stop.visits] ?? {};
  const next = moves[stop.status];
  if (next === undefined) throw new Error(`${code} does not follow ${stop.status} of a ${stop.visits}`);
  const { party, step } = rule;
  if (step === "departure") must(stop.present.delete(party), `${code} without being there`);
  else if (step === "arrival" || rule.impliesArrivalIn.includes(stop.status))
    stop.present.set(party, step === "arrival" && autoDepart === true);
  stop.status = next;
  const leaves = step === "confirmation" && (autoDepart ?? stop.present.get(party)) === true;
  if (!leaves) return;
  stop.present.delete(party);
  if (stop.status === "30") stop.status = "38";
}

function walkRoute(walk: Walk, code: RouteEventCode): void {
  if (code === "route.initiated") walk.status = 40;
  if (code === "route.origin.arrival" || code === "route.origin.depart")
    must(!walk.hasLeft, `${code} behind the departure`);
  if (code === "route.origin.depart") {
    walk.hasLeft = true;
    for (const stop of walk.stops.values()) stop.status = departedStatus(stop.visits);
  }
  if (code === "route.depot.arrival") {
    must(mustReturnToDepot(walk.load.loadHeader) && !walk.isBack, `${code} of a load that need not return`);
    walk.isBack = true;
  }
}

function completeIfDone(walk: Walk): void {
  const isBack = walk.isBack || !mustReturnToDepot(walk.load.loadHeader);
  const isDone = [...walk.stops.values()].every(({ status }) => isFinalStopStatus(status));
  if (walk.status === 40 && isBack && isDone) walk.status = 90;
}

/** Throws at the first report that the table does not allow. */
function walkLoad(plan: DayPlan, { loadNbr, requests }: LoadPlan): Walk {
  const walk = begin(importedLoad(plan, loadNbr));
  const known = new Set<string>();
  const events = requests.filter(({ kind }) => kind === "routeEvent" || kind === "stopEvent");
  for (const { body } of events) {
    const event = JSON.parse(body) as RouteEvent;
    const { eventCode: code } = event;
    const identity = `${event.stopEventData?.stopNbr} ${code} ${event.geoStamp.eventDTTM}`;
    if (known.has(identity)) continue;
    known.add(identity);
    if (!isRouteEventCode(code)) throw new Error(`${code} is unknown`);
    const rule = routeEventRule(code);
    must(event.routeNbr === loadNbr && rule.loadStates.includes(walk.status), `${code} in ${walk.status}`);
    if (rule.kind === "stop") walkStop(walk, code, rule, event);
    else walkRoute(walk, code);
    completeIfDone(walk);
  }
  return walk;
}

const days = [1, 2, 3, 4, 5].map((seed) => ({ seed, stops: seed * 3 - 2 }));

describe("the timeline of a load", () => {
  test.each(days)("is legal by the rules of route events, to its planned end: %j", (wishes) => {
    const plan = planDay({
      ...{ companyCode: "ACME", date: "2026-11-05", drivers: ["ann"], gpsSeconds: 0, loads: 60 },
      ...wishes,
    });
    for (const load of plan.loads) {
      const walk = walkLoad(plan, load);
      expect(walk.status).toBe(load.outcome.loadStatus);
      const statuses = load.outcome.stops.map(({ stopNbr, stopStatus }) => [stopNbr, stopStatus]);
      expect([...walk.stops].map(([stopNbr, { status }]) => [stopNbr, status])).toEqual(statuses);
    }
  });

  test("is seen to be illegal when an event is missing", () => {
    const plan = planDay({ companyCode: "ACME", date: "2026-11-05", drivers: ["ann"], loads: 1 });
    const [load] = plan.loads;
    if (load === undefined) throw new Error("no load was planned");
    const requests = load.requests.filter(({ body }) => !body.includes("route.origin.depart"));
    expect(() => walkLoad(plan, { ...load, requests })).toThrow("before the departure from the origin");
  });
});
