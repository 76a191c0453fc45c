/** Reports of the driver application: route and stop events, and positions (specification/events.md#objects). */
import { type Static, Type } from "@sinclair/typebox";
import { DocumentObject } from "../documents/document-object.ts";
import {
  coordinate,
  identifier,
  localDateTime,
  numericText,
  optionals,
  reference,
  text,
  timeZone,
} from "../fields/fields.ts";
import { type Fields, isFields } from "../fields/fields-of-json.ts";
import { firstZone, rewriteInstants } from "../time/local-instant.ts";
import { Confirmed } from "../stop/stop-detail.ts";

function position(limit: number) {
  return Type.Union([...coordinate(limit).anyOf, numericText()]);
}

export const GeoStamp = Type.Object({
  eventDTTM: localDateTime(),
  eventTz: timeZone(),
  latitude: Type.Optional(position(90)),
  longitude: Type.Optional(position(180)),
});
export type GeoStamp = Static<typeof GeoStamp>;

/** Quantities of one detail, which is named by its number or its product. */
export const ReportedDetail = Type.Composite([
  Type.Object(optionals(reference, "stopDetailSeq", "productIdentifier")),
  Type.Omit(Confirmed, ["rcvQty", "rcvScndQty"]),
]);
export type ReportedDetail = Static<typeof ReportedDetail>;

export const StopEventData = Type.Object({
  stopNbr: identifier("stopNbr"),
  autoDepart: Type.Optional(Type.Boolean()),
  exceptionCode: Type.Optional(reference("exceptionCode")),
  exceptionDesc: Type.Optional(text("exceptionDesc")),
  reasonCode: Type.Optional(reference("reasonCode")),
  reasonComments: Type.Optional(text("reasonComments")),
  stopDetails: Type.Optional(Type.Array(ReportedDetail)),
  documents: Type.Optional(Type.Array(DocumentObject)),
});
export type StopEventData = Static<typeof StopEventData>;

export const RouteEvent = Type.Object({
  eventCode: identifier("eventCode"),
  geoStamp: GeoStamp,
  routeNbr: identifier("routeNbr"),
  stopEventData: Type.Optional(StopEventData),
});
export type RouteEvent = Static<typeof RouteEvent>;

export const GpsPosition = Type.Object({ geoStamp: GeoStamp, routeNbr: identifier("routeNbr") });
export type GpsPosition = Static<typeof GpsPosition>;

/**
 * Text becomes the number that it spells; an empty coordinate is an absent one. Unreadable values stay for the check.
 */
function normaliseCoordinate(stamp: Fields, name: "latitude" | "longitude"): void {
  const value = stamp[name];
  if (value === null || (typeof value === "string" && value.trim() === "")) delete stamp[name];
  else if (typeof value === "string" && Number.isFinite(Number(value))) stamp[name] = Number(value);
}

function normaliseGeoStamp(value: unknown): unknown {
  if (!isFields(value)) return value;
  const stamp = { ...value };
  rewriteInstants(stamp, ["eventDTTM"], firstZone(stamp["eventTz"]));
  normaliseCoordinate(stamp, "latitude");
  normaliseCoordinate(stamp, "longitude");
  return stamp;
}

/** The canonical form of a route event or a position; a new object, the input is not changed. */
export function normaliseReport(value: unknown): unknown {
  if (!isFields(value)) return value;
  const { stopEventData, ...report } = value;
  if ("geoStamp" in report) report["geoStamp"] = normaliseGeoStamp(report["geoStamp"]);
  return stopEventData === undefined || stopEventData === null ? report : { ...report, stopEventData };
}
