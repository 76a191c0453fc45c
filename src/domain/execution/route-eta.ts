/**
 * When the driver reaches the stops that remain (specification/events.md#planned-arrivals): from visit to visit in
 * order, the great-circle distance times 1.3 at the load's planned speed, times its congestion factor, plus the
 * estimated duration of each visit before.
 */
import { distanceMetres, type GeoPoint } from "./geo-point.ts";
import type { LoadHeader } from "../load/load.ts";
import { dayMs, minuteMs } from "../../lib/durations.ts";

/** Roads are longer than the flight of a bird. */
const detour = 1.3;

/** A planned speed beyond these (km/h) comes from other units or a mistake, and is not used. */
const believableKmh = { minimum: 1, maximum: 200 };

/** More than a year away is a wrong duration or factor, and would be a date beyond all calendars. */
const believableMs = 366 * dayMs;

type Plan = Pick<LoadHeader, "prePlannedLoadDistance" | "prePlannedLoadDuration" | "congestionFactor">;

/** `prePlannedLoadDistance` in kilometres by `prePlannedLoadDuration` in minutes; the average when that is no speed. */
export function plannedSpeedKmh(plan: Plan, averageSpeedKmh: number): number {
  const speed = (plan.prePlannedLoadDistance ?? 0) / ((plan.prePlannedLoadDuration ?? 0) / 60);
  const isBelievable = speed >= believableKmh.minimum && speed <= believableKmh.maximum;
  return isBelievable ? speed : averageSpeedKmh;
}

/** How many milliseconds a metre of great circle takes. */
export function msPerMetre(plan: Plan, averageSpeedKmh: number): number {
  const { congestionFactor } = plan;
  const factor = congestionFactor !== undefined && congestionFactor > 0 ? congestionFactor : 1;
  return (detour * factor * 3_600) / plannedSpeedKmh(plan, averageSpeedKmh);
}

export interface RemainingVisit {
  /** Undefined when the address has no coordinates: the way goes on from the place before. */
  readonly place: GeoPoint | undefined;
  /** Minutes that the visit is expected to take. */
  readonly durationMinutes: number;
  /** Since when the driver is there (milliseconds UTC): no way to go, no time of arrival to tell, and a part of the stay over. */
  readonly arrivedAt: number | undefined;
}

/** The rest of a visit once the driver is there; 0 when it lasts longer than expected. */
function stayMs({ durationMinutes, arrivedAt }: RemainingVisit, now: number): number {
  const durationMs = durationMinutes * minuteMs;
  return arrivedAt === undefined ? durationMs : Math.max(0, arrivedAt + durationMs - now);
}

/**
 * When the driver reaches each place of the visits, as milliseconds UTC. A visit without coordinates has no such time, nor
 * has one that he would not reach within a year.
 */
export function arrivalsOf<Visit extends RemainingVisit>(
  start: { readonly at: number; readonly place: GeoPoint },
  visits: readonly Visit[],
  pace: number,
): ReadonlyMap<Visit, number> {
  const arrivals = new Map<Visit, number>();
  let { at, place } = start;
  for (const visit of visits) {
    if (visit.place !== undefined && visit.arrivedAt === undefined) {
      at += distanceMetres(place, visit.place) * pace;
      if (at - start.at <= believableMs) arrivals.set(visit, Math.round(at));
    }
    place = visit.place ?? place;
    at += stayMs(visit, start.at);
  }
  return arrivals;
}
