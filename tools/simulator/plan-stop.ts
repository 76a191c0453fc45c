/** Plans the stops of a load: what kind they are, where, what is handed over, and within which window. */
import type { GeoPoint } from "../../src/domain/execution/geo-point.ts";
import type { Party } from "../../src/domain/stop/party.ts";
import type { StopVisits } from "../../src/domain/execution/route-event-rules.ts";
import type { StopDetail } from "../../src/domain/stop/stop-detail.ts";
import type { Stop } from "../../src/domain/stop/stop.ts";
import { localTimeOf } from "../../src/domain/time/zoned-time.ts";
import type { Random } from "./random.ts";
import { addressIn, customers, depotAddress, people, products, type Region } from "./region.ts";
import { minuteMs } from "../../src/lib/durations.ts";

/** A stop before its place in the sequence is known. */
export interface DraftStop {
  readonly kind: StopVisits;
  readonly pickup: ReturnType<typeof addressIn> | undefined;
  readonly dropoff: ReturnType<typeof addressIn> | undefined;
  readonly minutes: number;
  readonly stopDetails: readonly StopDetail[];
}

function kindOf(random: Random): StopVisits {
  const dice = random.next();
  if (dice < 0.12) return "pickupOnly";
  return dice < 0.3 ? "pickupAndDropoff" : "dropoffOnly";
}

function detailsOf(random: Random): StopDetail[] {
  return Array.from({ length: random.whole(1, 4) }, (_, index) => {
    const { kilograms, ...product } = random.pick(products);
    const quantity = random.whole(1, 24);
    return {
      stopDetailSeq: index + 1,
      ...product,
      quantity,
      weight: Math.round(quantity * kilograms * 10) / 10,
      weightUOM: "KG",
    };
  });
}

/** A stop of the region. */
export function draftOf(region: Region, random: Random): DraftStop {
  const kind = kindOf(random);
  const name = random.pick(customers);
  return {
    kind,
    pickup: kind === "dropoffOnly" ? undefined : addressIn(region, random, `${name} (pickup)`),
    dropoff: kind === "pickupOnly" ? undefined : addressIn(region, random, name),
    minutes: random.whole(4, 20),
    stopDetails: detailsOf(random),
  };
}

/** Where the driver is when the stop is done. */
export function lastPlaceOf({ dropoff, pickup }: DraftStop, otherwise: GeoPoint): GeoPoint {
  return dropoff ?? pickup ?? otherwise;
}

/** Two and a half hours around the expected arrival, on the quarter of an hour. */
export function windowOf(expectedAt: number, zone: string, minutes: number) {
  const quarter = 15 * minuteMs;
  const from = Math.floor((expectedAt - 60 * minuteMs) / quarter) * quarter;
  return {
    timeFrom: localTimeOf(from, zone),
    timeTo: localTimeOf(from + 150 * minuteMs, zone),
    timeZone: zone,
    estimatedDuration: String(minutes),
  };
}

function contactOf(random: Random) {
  const contactName = random.pick(people);
  const email = `${contactName.toLowerCase().replace(" ", ".")}@example.com`;
  return { contactName, email, phone: `+1 555 01${random.whole(10, 99)}` };
}

function commentsOf(random: Random) {
  const texts = ["Ring at the gate", "Back entrance", "Call 30 minutes before", "Forklift on site"] as const;
  return random.chance(0.4)
    ? { comments: [{ commentType: "DRV", commentDescription: random.pick(texts) }] }
    : {};
}

/** The stop as the load lists it. */
export interface PlaceInLoad {
  readonly stopNbr: string;
  readonly seq: number;
  readonly region: Region;
  readonly window: (party: "from" | "to") => ReturnType<typeof windowOf>;
}

function partiesOf({ kind, pickup, dropoff }: DraftStop, planned: PlaceInLoad, random: Random) {
  const party = (which: "from" | "to", address: Party["address"]): Party => ({
    ...(address === undefined ? {} : { address }),
    contact: contactOf(random),
    schedule: planned.window(which),
    signatureRequired: true,
  });
  const to = dropoff === undefined ? {} : { to: party("to", dropoff) };
  if (pickup !== undefined) return { from: party("from", pickup), ...to };
  // From the depot: given by its address, or by leaving the pickup out.
  if (kind === "dropoffOnly" && random.chance(0.5))
    return { from: { address: depotAddress(planned.region) }, ...to };
  return { puConfirmation: "SKIP", ...to };
}

/** The stop as the host sends it. */
export function stopOf(draft: DraftStop, planned: PlaceInLoad, random: Random): Stop {
  const { stopNbr, seq } = planned;
  const weight = draft.stopDetails.reduce((sum, detail) => sum + Number(detail.weight), 0);
  return {
    stopNbr,
    stopSeq: seq,
    stopType: draft.kind === "pickupOnly" ? "PU" : "DO",
    ...partiesOf(draft, planned, random),
    reference1: `PO-${random.whole(10_000, 99_999)}`,
    totalCartons: random.whole(1, 40),
    weight: Math.round(weight * 10) / 10,
    weightUOM: "KG",
    stopGeofenceRadius: 150,
    stopDetails: [...draft.stopDetails],
    ...commentsOf(random),
  };
}
