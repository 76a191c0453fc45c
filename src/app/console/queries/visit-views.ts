/** Visits of a stop as moments: its schedule, and what was reported of its execution. */
import type { PartyExecution, StopExecution } from "../../../domain/execution/stop-execution.ts";
import type { StopVisits } from "../../../domain/execution/route-event-rules.ts";
import { partyOf } from "../../../domain/execution/stop-visits.ts";
import type { Stop } from "../../../domain/stop/stop.ts";
import { momentOf } from "../../../domain/time/zoned-time.ts";
import { given } from "../../../lib/given.ts";
import type { VisitView } from "../../../endpoints/http/console/pages/stop/stop-view.ts";

/** The moment of a local time in its zone; undefined for what is none, as an earlier version may have kept it. */
export function momentOrNone(local: string | null | undefined, zone: string): number | undefined {
  if (local === undefined || local === null || local === "") return undefined;
  try {
    const moment = momentOf(local, zone);
    return Number.isFinite(moment) ? moment : undefined;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return undefined;
  }
}

const partiesOf: Readonly<Record<StopVisits, readonly ("from" | "to")[]>> = {
  pickupOnly: ["from"],
  dropoffOnly: ["to"],
  pickupAndDropoff: ["from", "to"],
};

function executedTimes(done: PartyExecution, zone: string) {
  const at = (local: string | undefined, own = zone) => momentOrNone(local, own);
  return {
    expectedAt: at(done.plannedEtaDTTM, done.plannedEtaTz),
    geofenceAt: at(done.geofenceDTTM, done.arrivalTz),
    arrivedAt: at(done.arrivalDTTM, done.arrivalTz),
    confirmedAt: at(done.confirmedDTTM, done.arrivalTz),
    departedAt: at(done.departureDTTM, done.arrivalTz),
  };
}

/** The visits of a stop in their order. `loadZone`: the zone of its load, for a schedule without one. */
export function visitViewsOf(
  stop: Pick<Stop, "from" | "to">,
  execution: StopExecution,
  { visits, loadZone }: { readonly visits: StopVisits; readonly loadZone: string | undefined },
): readonly VisitView[] {
  return partiesOf[visits].map((party) => {
    const { address = {}, schedule } = partyOf(stop, visits, party) ?? {};
    const zone =
      schedule?.timeZone ?? stop.to?.schedule?.timeZone ?? stop.from?.schedule?.timeZone ?? loadZone ?? "UTC";
    return {
      ...{ party, address, zone },
      ...given({
        timeFrom: momentOrNone(schedule?.timeFrom, zone),
        timeTo: momentOrNone(schedule?.timeTo, zone),
        ...executedTimes(execution[party] ?? {}, zone),
      }),
    };
  });
}
