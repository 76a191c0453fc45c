/** Where a load is, and when it reaches the stops that remain (decisions 4). */
import type { GeoPoint } from "../domain/geo-point.ts";
import { nextParty } from "../domain/route-event-rules.ts";
import { arrivalsOf, msPerMetre, type RemainingVisit } from "../domain/route-eta.ts";
import type { StopExecution } from "../domain/stop-execution.ts";
import { partyOf, placeOf } from "../domain/stop-visits.ts";
import { localTimeOf, momentOf } from "../domain/zoned-time.ts";
import type { Transaction } from "../store/group-commit.ts";
import { noteEta } from "../store/messages.ts";
import { findProgress, type RouteProgress, saveProgress } from "../store/route-reports.ts";
import { saveStopExecution } from "../store/route-stops.ts";
import type { ReportedRoute, ReportedStop } from "./route-report.ts";

/** A place further ahead of our clock than this comes from a clock that is wrong; the next one takes its place. */
const maxAheadMs = 3_600_000;

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

/** The visits of a stop that are still to be made, or are being made. */
function visitsLeft(reported: ReportedStop): readonly RemainingVisit[] {
  const { row, stop, visits } = reported;
  const next = nextParty(row.status, visits);
  const parties: readonly ("from" | "to")[] =
    next === "from" && visits === "pickupAndDropoff" ? ["from", "to"] : next === undefined ? [] : [next];
  return parties.map((party, index) => ({
    stopNbr: row.stopNbr,
    place: placeOf(stop, visits, party),
    durationMinutes: minutesOf(partyOf(stop, visits, party)?.schedule?.estimatedDuration),
    arrivedAt: index === 0 ? arrivedAtOf(reported, party) : undefined,
    isTold: index === parties.length - 1,
  }));
}

function zoneOf({ stop }: ReportedStop, route: ReportedRoute): string {
  return stop.to?.schedule?.timeZone ?? route.header.loadTimeZone ?? route.stamp.eventTz;
}

interface StopEta extends ReportedStop {
  /** Milliseconds UTC. */
  readonly at: number;
}

async function keepEta(tx: Transaction, route: ReportedRoute, kept: StopEta): Promise<void> {
  const { row, at } = kept;
  const zone = zoneOf(kept, route);
  const execution = JSON.parse(row.execution) as StopExecution;
  const plannedEtaDTTM = localTimeOf(at, zone);
  if (execution.to?.plannedEtaDTTM === plannedEtaDTTM && execution.to.plannedEtaTz === zone) return;
  const to = { ...execution.to, plannedEtaDTTM, plannedEtaTz: zone };
  await saveStopExecution(tx, {
    id: row.id,
    status: row.status,
    execution: JSON.stringify({ ...execution, to }),
    updatedAt: route.now,
  });
  const { companyId, now, load } = route;
  // As it is shown, in whole seconds.
  const etaAt = Math.floor(at / 1_000) * 1_000;
  await noteEta(tx, { companyId, stopNbr: row.stopNbr, loadId: load.id, etaAt, now });
}

function etasOf(
  route: ReportedRoute,
  { from, stops }: { readonly from: RouteProgress; readonly stops: readonly ReportedStop[] },
): StopEta[] {
  const pace = msPerMetre(route.header, route.settings.averageSpeedKmh);
  const arrivals = arrivalsOf(from, stops.flatMap(visitsLeft), pace);
  return stops.flatMap((one) => {
    const at = arrivals.get(one.row.stopNbr);
    return at === undefined ? [] : [{ ...one, at }];
  });
}

export interface Whereabouts {
  /** Where the report was made, as far as it is known. */
  readonly place: GeoPoint | undefined;
  /** The stops that are not final, as they are now, in the order of their visits. Asked for when they are needed. */
  readonly pendingStops: () => Promise<readonly ReportedStop[]>;
}

/**
 * Takes the report as the load's place, unless a later one is known, and works out the ETAs again unless that was done a
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
  for (const eta of etas) await keepEta(tx, route, eta);
  if (isDue || isNewer) await saveProgress(tx, { ...latest, etaAt: isDue ? now : etaAt });
}
