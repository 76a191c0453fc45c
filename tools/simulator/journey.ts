/** A driver on the way while a timeline is planned: the clock, the place, and what has been reported up to now. */
import type { GeoPoint } from "../../src/domain/execution/geo-point.ts";
import type { Confirmed } from "../../src/domain/stop/stop-detail.ts";
import type { StopStatus } from "../../src/domain/stop/stop-status.ts";
import type { DayOptions, PlannedRequest, RequestKind } from "./day-plan.ts";
import type { LoadWork } from "./plan-load.ts";
import type { Random } from "./random.ts";
import { geoStampOf } from "./report-bodies.ts";

/** Who is told of the driver, and when: in the import, by a request, or by the driver who takes a free load. */
export type Assignment = "import" | "request" | "claim";

export interface TimelineInput {
  readonly options: DayOptions;
  readonly work: LoadWork;
  readonly driver: string;
  readonly assignment: Assignment;
  readonly random: Random;
}

/** A report that is to be written down: an event or a position. */
export interface Report {
  readonly kind: Extract<RequestKind, "routeEvent" | "stopEvent" | "gpsPosition">;
  readonly body: object;
  readonly refusal?: number;
}

interface StopProgress {
  status: StopStatus;
  confirmed: Confirmed[];
}

export interface Journey extends TimelineInput {
  readonly loadNbr: string;
  /** Simulated, whole seconds in milliseconds UTC. */
  at: number;
  place: GeoPoint;
  nextPositionAt: number;
  readonly requests: PlannedRequest[];
  readonly progress: readonly StopProgress[];
}

/** Notes a report of the driver at the time of the journey. */
export function noteReport(journey: Journey, { kind, body, refusal }: Report): void {
  const { options, driver } = journey;
  journey.requests.push({
    kind,
    at: journey.at,
    sender: options.driversReport ? driver : undefined,
    path: kind === "gpsPosition" ? "/v5/event/gps" : "/v5/event/route",
    body: JSON.stringify(body),
    refusal,
    isRepeat: false,
  });
}

export function stampOf({ at, place, work, random }: Journey) {
  return geoStampOf(at, work.region.zone, { point: place, random });
}
