/**
 * Reports that are wrong on purpose, each with the reason code that it has to be refused with
 * (specification/events.md#order-of-events).
 */
import { reasonCodeOf } from "../../src/lib/errors.ts";
import { type Journey, type Report, stampOf } from "./journey.ts";

/** Of a load that has just left its origin. None of them changes anything. */
export function wrongReports(journey: Journey): readonly Report[] {
  const { loadNbr: routeNbr, options, random, work } = journey;
  const geoStamp = stampOf(journey);
  const stopNbr = work.stops[0]?.stop.stopNbr;
  const noLoad = `${options.prefix}-0000`;
  const kind = "stopEvent";
  const all: readonly Report[] = [
    { kind, body: { eventCode: "stop.lost", geoStamp, routeNbr }, refusal: reasonCodeOf("unknownEvent") },
    {
      kind,
      body: { eventCode: "stop.dropoff.arrival", geoStamp, routeNbr, stopEventData: { stopNbr: noLoad } },
      refusal: reasonCodeOf("stopNotOnRoute"),
    },
    {
      kind,
      body: { eventCode: "stop.dropoff.departure", geoStamp, routeNbr, stopEventData: { stopNbr } },
      refusal: reasonCodeOf("eventOutOfSequence"),
    },
    {
      kind,
      body: { eventCode: "stop.dropoff.arrival", geoStamp, routeNbr },
      refusal: reasonCodeOf("emptyList"),
    },
    { kind: "gpsPosition", body: { geoStamp, routeNbr: noLoad }, refusal: reasonCodeOf("loadNotFound") },
  ];
  return all.filter(() => random.chance(0.5));
}
