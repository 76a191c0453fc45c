/** Plans one load as the host sends it: header, stops with windows and details, and the visits in their order. */
import { distanceMetres, type GeoPoint } from "../../src/domain/execution/geo-point.ts";
import type { LoadHeader } from "../../src/domain/load/load.ts";
import type { StopVisits } from "../../src/domain/execution/route-event-rules.ts";
import type { Stop } from "../../src/domain/stop/stop.ts";
import { visitsOf } from "../../src/domain/execution/stop-visits.ts";
import { localTimeOf, momentOf } from "../../src/domain/time/zoned-time.ts";
import type { DayOptions } from "./day-plan.ts";
import { type DraftStop, draftOf, lastPlaceOf, stopOf, windowOf } from "./plan-stop.ts";
import type { Random } from "./random.ts";
import { depotAddress, type Region, regions } from "./region.ts";
import { minuteMs } from "../../src/lib/durations.ts";

/** Roads are longer than the flight of a bird. */
const detour = 1.3;
const plannedKmh = 42;

export interface PlannedVisit {
  /** Index of its stop. */
  readonly stop: number;
  /** `from` is the pickup, `to` the drop-off. */
  readonly party: "from" | "to";
  readonly place: GeoPoint;
  readonly minutes: number;
}

export interface PlannedStop {
  readonly stop: Stop;
  readonly visits: StopVisits;
}

/** A load and the way through it. */
export interface LoadWork {
  readonly header: LoadHeader;
  readonly region: Region;
  readonly depot: GeoPoint;
  readonly isReturning: boolean;
  readonly stops: readonly PlannedStop[];
  /** In the order in which the driver makes them. */
  readonly visits: readonly PlannedVisit[];
  /** When the driver begins, milliseconds UTC. */
  readonly startAt: number;
}

/** Milliseconds from one point to another at the planned speed. */
export function driveMs(from: GeoPoint, to: GeoPoint): number {
  return Math.round(((distanceMetres(from, to) * detour) / (plannedKmh / 3.6)) * 1_000);
}

/** Always to the nearest that is left, as a dispatcher without a planner would do. */
function inVisitOrder(drafts: readonly DraftStop[], depot: GeoPoint): DraftStop[] {
  const left = [...drafts];
  const ordered: DraftStop[] = [];
  let place = depot;
  while (left.length > 0) {
    const distances = left.map((draft) => distanceMetres(place, lastPlaceOf(draft, depot)));
    const [nearest] = left.splice(distances.indexOf(Math.min(...distances)), 1);
    if (nearest === undefined) break;
    ordered.push(nearest);
    place = lastPlaceOf(nearest, depot);
  }
  return ordered;
}

/** What goes from one customer to another is picked up at most two visits before it is handed over. */
function visitsInOrder(drafts: readonly DraftStop[], random: Random): PlannedVisit[] {
  const visits: PlannedVisit[] = [];
  for (const [stop, { pickup, dropoff, minutes }] of drafts.entries()) {
    if (pickup !== undefined) {
      const at = dropoff === undefined ? visits.length : Math.max(0, visits.length - random.whole(0, 2));
      visits.splice(at, 0, { stop, party: "from", place: pickup, minutes });
    }
    if (dropoff !== undefined) visits.push({ stop, party: "to", place: dropoff, minutes });
  }
  return visits;
}

interface Schedule {
  /** When each visit is expected, in their order, milliseconds UTC. */
  readonly arrivals: readonly number[];
  readonly endAt: number;
  readonly metres: number;
}

function scheduleOf(
  visits: readonly PlannedVisit[],
  depot: GeoPoint,
  route: { readonly departAt: number; readonly isReturning: boolean },
): Schedule {
  let [at, metres, place] = [route.departAt, 0, depot];
  const goTo = (next: GeoPoint) => {
    at += driveMs(place, next);
    metres += distanceMetres(place, next) * detour;
    place = next;
  };
  const arrivals = visits.map((visit) => {
    goTo(visit.place);
    const arrival = at;
    at += visit.minutes * minuteMs;
    return arrival;
  });
  if (route.isReturning) goTo(depot);
  return { arrivals, endAt: at, metres };
}

function headerOf(
  loadNbr: string,
  region: Region,
  plan: Schedule & { readonly startAt: number; readonly isReturning: boolean },
): LoadHeader {
  const { name, addr1, city, state, zip, country, latitude, longitude } = depotAddress(region);
  return {
    loadNbr,
    routeName: region.name,
    earliestStartDttm: localTimeOf(plan.startAt, region.zone),
    latestStartDttm: localTimeOf(plan.startAt + 30 * minuteMs, region.zone),
    loadTimeZone: region.zone,
    ...{ originName: name ?? "", originAddr1: addr1 ?? "", originCity: city ?? "", originState: state ?? "" },
    ...{ originZip: zip ?? "", originCountry: country ?? "" },
    ...{ originLatitude: latitude, originLongitude: longitude },
    depot: { address: depotAddress(region) },
    ...(plan.isReturning ? { returnToDepot: "ALWAYS" } : {}),
    tractorNbr: `T-${loadNbr.slice(-4)}`,
    prePlannedLoadDistance: Math.round(plan.metres / 100) / 10,
    prePlannedLoadDuration: Math.max(1, Math.round((plan.endAt - plan.startAt) / minuteMs)),
  };
}

/** Number of the load, and of its stops; indexes count from 0. At most 20 characters with a prefix of 12. */
export function loadNumber(prefix: string, load: number): string {
  return `${prefix}-${String(load + 1).padStart(4, "0")}`;
}

function stopNumber(loadNbr: string, stop: number): string {
  return `${loadNbr}-${String(stop + 1).padStart(2, "0")}`;
}

/** Between the driver's sign-in at the depot and the departure. */
export const loadingMinutes = 20;

/** The load of this index (from 0) of the day. Everything in it follows from `random` and the options. */
export function planWork(options: DayOptions, index: number, random: Random): LoadWork {
  const region = random.pick(regions);
  const depot = region.depot;
  const { zone } = region;
  const loadNbr = loadNumber(options.prefix, index);
  const isReturning = random.chance(0.4);
  const startAt = momentOf(`${options.date}T05:30:00`, zone) + random.whole(0, 150) * minuteMs;
  const drafts = inVisitOrder(
    Array.from({ length: options.stops }, () => draftOf(region, random)),
    depot,
  );
  const visits = visitsInOrder(drafts, random);
  const schedule = scheduleOf(visits, depot, { departAt: startAt + loadingMinutes * minuteMs, isReturning });
  const header = headerOf(loadNbr, region, { ...schedule, startAt, isReturning });
  const stops = drafts.map((draft, seq): PlannedStop => {
    const window = (party: "from" | "to") => {
      const visit = visits.findIndex((one) => one.stop === seq && one.party === party);
      return windowOf(schedule.arrivals[visit] ?? startAt, zone, draft.minutes);
    };
    const stop = stopOf(draft, { stopNbr: stopNumber(loadNbr, seq), seq: seq + 1, region, window }, random);
    return { stop, visits: visitsOf(stop, header) };
  });
  return { header, region, depot, isReturning, stops, visits, startAt };
}
