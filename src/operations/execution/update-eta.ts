/** Where a load is, and when it reaches the stops that remain (specification/events.md#planned-arrivals). */
import { isDeepStrictEqual } from "node:util";
import { given } from "../../lib/given.ts";
import type { GeoPoint } from "../../domain/execution/geo-point.ts";
import { nextParty } from "../../domain/execution/route-event-rules.ts";
import { arrivalsOf, msPerMetre, type RemainingVisit } from "../../domain/execution/route-eta.ts";
import type { PartyExecution, StopExecution } from "../../domain/execution/stop-execution.ts";
import { partyOf, placeOf } from "../../domain/execution/stop-visits.ts";
import { localTimeOf, momentOf } from "../../domain/time/zoned-time.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { findProgress, type RouteProgress, saveProgress } from "../../store/stops/route-reports.ts";
import { saveStopExecution } from "../../store/stops/route-stops.ts";
import { noteEta } from "../consequences/tell-customers.ts";
import type { ReportedRoute, ReportedStop } from "./route-report.ts";
import { hourMs } from "../../lib/durations.ts";

/** A position further ahead of our clock than this comes from a wrong clock; the next one replaces it. */
const maxAheadMs = hourMs;

function minutesOf(text: string | undefined): number {
  const minutes = Number(text ?? 0);
  return Number.isFinite(minutes) && minutes > 0 ? minutes : 0;
}

/** Since when the driver is at the stop; undefined while he is not there. */
function arrivedAtOf({ row }: ReportedStop, party: "from" | "to"): number | undefined {
  if (row.status !== "27" && row.status !== "50") return undefined;
  const { arrivalDTTM, arrivalTz = "UTC" } = (JSON.parse(row.execution) as StopExecution)[party] ?? {};
  return arrivalDTTM === undefined ? undefined : momentOf(arrivalDTTM, arrivalTz);
}

interface VisitLeft extends RemainingVisit {
  readonly party: "from" | "to";
}

/** The visits of a stop that are still to be made, or are being made. */
function visitsLeft(reported: ReportedStop): readonly VisitLeft[] {
  const { row, stop, visits } = reported;
  const next = nextParty(row.status, visits);
  const parties: readonly ("from" | "to")[] =
    next === "from" && visits === "pickupAndDropoff" ? ["from", "to"] : next === undefined ? [] : [next];
  return parties.map((party, index) => ({
    party,
    place: placeOf(stop, visits, party),
    durationMinutes: minutesOf(partyOf(stop, visits, party)?.schedule?.estimatedDuration),
    arrivedAt: index === 0 ? arrivedAtOf(reported, party) : undefined,
  }));
}

/** A pickup only has its zone where it has its address, or where the host has put its schedule. */
function zoneOf({ stop, visits }: ReportedStop, party: "from" | "to", route: ReportedRoute): string {
  const own = partyOf(stop, visits, party)?.schedule?.timeZone;
  const others =
    visits === "pickupOnly" ? (stop.from?.schedule?.timeZone ?? stop.to?.schedule?.timeZone) : own;
  return own ?? others ?? route.header.loadTimeZone ?? route.stamp.eventTz;
}

interface StopEta {
  readonly reported: ReportedStop;
  /** Milliseconds UTC, by visit. */
  readonly arrivals: Readonly<Partial<Record<"from" | "to", number>>>;
}

type Visits = Pick<StopExecution, "from" | "to">;

/** The visits with their planned arrivals, local. A pickup only has none in `to`. */
function plannedVisits(
  { from, to }: StopExecution,
  { reported, arrivals }: StopEta,
  route: ReportedRoute,
): Visits {
  const planned: { from?: PartyExecution | undefined; to?: PartyExecution | undefined } = { from, to };
  for (const party of ["from", "to"] as const) {
    const at = arrivals[party];
    if (at === undefined) continue;
    const plannedEtaTz = zoneOf(reported, party, route);
    planned[party] = { ...planned[party], plannedEtaDTTM: localTimeOf(at, plannedEtaTz), plannedEtaTz };
  }
  return {
    ...(planned.from === undefined ? {} : { from: planned.from }),
    ...(planned.to === undefined || reported.visits === "pickupOnly" ? {} : { to: planned.to }),
  };
}

async function keepEta(tx: Transaction, route: ReportedRoute, kept: StopEta): Promise<void> {
  const { row, visits } = kept.reported;
  const { from, to, ...execution } = JSON.parse(row.execution) as StopExecution;
  const known = given({ from, to });
  const planned = plannedVisits(known, kept, route);
  if (isDeepStrictEqual(planned, known)) return;
  await saveStopExecution(tx, {
    id: row.id,
    status: row.status,
    execution: JSON.stringify({ ...execution, ...planned }),
    updatedAt: route.now,
  });
  const { companyId, now, load } = route;
  // The arrival that the customer waits for: the delivery, or the pickup of a stop that has nothing else.
  const at = kept.arrivals[visits === "pickupOnly" ? "from" : "to"];
  if (at === undefined) return;
  // As it is shown, in whole seconds.
  const etaAt = Math.floor(at / 1_000) * 1_000;
  await noteEta(tx, { companyId, stopNbr: row.stopNbr, loadId: load.id, etaAt, now });
}

function etasOf(
  route: ReportedRoute,
  { from, stops }: { readonly from: RouteProgress; readonly stops: readonly ReportedStop[] },
): readonly StopEta[] {
  const pace = msPerMetre(route.header, route.settings.averageSpeedKmh);
  const left = stops.map((reported) => ({ reported, visits: visitsLeft(reported) }));
  const known = arrivalsOf(
    from,
    left.flatMap(({ visits }) => visits),
    pace,
  );
  return left.map(({ reported, visits }) => {
    const arrivals: { from?: number; to?: number } = {};
    for (const visit of visits) {
      const at = known.get(visit);
      if (at !== undefined) arrivals[visit.party] = at;
    }
    return { reported, arrivals };
  });
}

export interface Whereabouts {
  /** Where the report was made, as far as it is known. */
  readonly place: GeoPoint | undefined;
  /** Reads the stops that are not final, as they are now, in the order of their visits. */
  readonly pendingStops: () => Promise<readonly ReportedStop[]>;
}

/**
 * Takes the report as the load's place, unless a later one is known, and calculates the ETAs again unless that was done a
 * short while ago.
 */
export async function updateProgress(
  tx: Transaction,
  route: ReportedRoute,
  { place, pendingStops }: Whereabouts,
): Promise<void> {
  const { at, now, load, settings } = route;
  const known = await findProgress(tx, load.id);
  const isNewer =
    place !== undefined && (known === undefined || at >= known.at || known.at > now + maxAheadMs);
  const etaAt = known?.etaAt ?? null;
  const latest = isNewer ? { loadId: load.id, at, place, etaAt } : known;
  if (latest === undefined) return;
  const isDue = etaAt === null || now - etaAt >= settings.etaIntervalMs;
  const etas = isDue ? etasOf(route, { from: latest, stops: await pendingStops() }) : [];
  for (const eta of etas) if (Object.keys(eta.arrivals).length > 0) await keepEta(tx, route, eta);
  if (isDue || isNewer) await saveProgress(tx, { ...latest, etaAt: isDue ? now : etaAt });
}
