/**
 * The forms that hosts really send, turned into the canonical one before the check (decisions 2.2): `to` inside `from`,
 * one comment instead of a list, two names for one duration, unpadded dates. What cannot be read is left as it is, so
 * that the check names it.
 */
import { type Fields, isFields, rewrite } from "./fields-of-json.ts";
import {
  normaliseDateOrDateTime,
  normaliseDateOrLocalDateTime,
  normaliseLocalDateTime,
} from "./local-time.ts";

function normaliseSchedule(value: unknown): unknown {
  if (!isFields(value)) return value;
  const { estDuration, estimatedDuration, ...rest } = value;
  const schedule: Fields = rest;
  rewrite(schedule, "timeFrom", normaliseLocalDateTime);
  rewrite(schedule, "timeTo", normaliseLocalDateTime);
  const duration = isGiven(estimatedDuration) ? estimatedDuration : estDuration;
  if (isGiven(duration))
    schedule["estimatedDuration"] = typeof duration === "number" ? String(duration) : duration;
  return schedule;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

/** A party (`from`, `to`) with its schedule in canonical form. */
export function normaliseParty(value: unknown): unknown {
  if (!isFields(value) || !("schedule" in value)) return value;
  return { ...value, schedule: normaliseSchedule(value["schedule"]) };
}

/** A single comment object becomes a list of one. */
export function normaliseComments(value: unknown): unknown {
  return isFields(value) ? [value] : value;
}

/** A stop detail with its comments and dates in canonical form. */
export function normaliseStopDetail(value: unknown): unknown {
  if (!isFields(value)) return value;
  const detail = { ...value };
  if ("comments" in detail) detail["comments"] = normaliseComments(detail["comments"]);
  rewrite(detail, "orderDate", normaliseDateOrDateTime);
  rewrite(detail, "invoiceDate", normaliseDateOrLocalDateTime);
  rewrite(detail, "earliestDTTM", normaliseLocalDateTime);
  rewrite(detail, "latestDTTM", normaliseLocalDateTime);
  return detail;
}

function liftTo(stop: Fields): void {
  const from = stop["from"];
  if (!isFields(from) || !("to" in from) || "to" in stop) return;
  const { to, ...rest } = from;
  stop["from"] = rest;
  stop["to"] = to;
}

/** The canonical form of a stop as it came; a new object, nothing is changed in place. Orders take the same path. */
export function normaliseStop(value: unknown): unknown {
  if (!isFields(value)) return value;
  const stop = { ...value };
  liftTo(stop);
  if ("from" in stop) stop["from"] = normaliseParty(stop["from"]);
  if ("to" in stop) stop["to"] = normaliseParty(stop["to"]);
  if ("comments" in stop) stop["comments"] = normaliseComments(stop["comments"]);
  rewrite(stop, "receivedDttm", normaliseLocalDateTime);
  const details = stop["stopDetails"];
  if (Array.isArray(details)) stop["stopDetails"] = details.map(normaliseStopDetail);
  return stop;
}
