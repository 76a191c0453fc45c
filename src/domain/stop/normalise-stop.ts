/**
 * The forms that hosts really send, turned into the canonical one before the check (specification/gateway.md#input):
 * `to` inside `from`, one comment instead of a list, two names for one duration, instants instead of local times, and
 * what all serializers write differently (`canonical-form.ts`). What cannot be read is left as it is, so that the check
 * names it.
 */
import type { TSchema } from "@sinclair/typebox";
import { createCanonicalForm } from "../fields/canonical-form.ts";
import { type Fields, isFields } from "../fields/fields-of-json.ts";
import { firstZone, rewriteInstants } from "../time/local-instant.ts";
import { Order } from "../order/order.ts";
import { sentOrder, sentStop } from "../fields/shown-form.ts";
import { Stop } from "./stop.ts";

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

/** The two names of the duration become one; a number becomes text. */
function mergeDurations(schedule: Fields): void {
  const { estDuration, estimatedDuration } = schedule;
  if (estDuration === undefined && typeof estimatedDuration !== "number") return;
  delete schedule["estDuration"];
  const duration = isGiven(estimatedDuration) ? estimatedDuration : estDuration;
  if (isGiven(duration))
    schedule["estimatedDuration"] = typeof duration === "number" ? String(duration) : duration;
}

function scheduleOf(party: unknown): Fields | undefined {
  const schedule = isFields(party) ? party["schedule"] : undefined;
  return isFields(schedule) ? schedule : undefined;
}

/** The zone that stands in the schedule of a party. */
function zoneOf(party: unknown): unknown {
  return scheduleOf(party)?.["timeZone"];
}

/** A party (`from`, `to`) with its schedule in canonical form. */
function normaliseParty(stop: Fields, name: "from" | "to", outerZone: unknown): void {
  const party = stop[name];
  const found = scheduleOf(party);
  if (!isFields(party) || found === undefined) return;
  const schedule: Fields = { ...found };
  mergeDurations(schedule);
  rewriteInstants(schedule, ["timeFrom", "timeTo"], firstZone(schedule["timeZone"], outerZone));
  stop[name] = { ...party, schedule };
}

/** A single comment object becomes a list of one; one without any field is none. */
export function normaliseComments(fields: Fields): void {
  const { comments } = fields;
  if (isFields(comments)) fields["comments"] = Object.keys(comments).length === 0 ? [] : [comments];
}

/** A stop detail with its comments and times in canonical form. */
function normaliseStopDetail(value: unknown, stop: Fields, outerZone: unknown): unknown {
  if (!isFields(value)) return value;
  const detail = { ...value };
  const isPickup = detail["deliveryType"] === "PU";
  const [own, other] = isPickup ? [stop["from"], stop["to"]] : [stop["to"], stop["from"]];
  rewriteInstants(detail, ["earliestDTTM", "latestDTTM"], firstZone(zoneOf(own), zoneOf(other), outerZone));
  return detail;
}

function liftTo(stop: Fields): void {
  const from = stop["from"];
  if (!isFields(from) || !("to" in from) || isGiven(stop["to"])) return;
  const { to, ...rest } = from;
  stop["from"] = rest;
  stop["to"] = to;
}

/** What must be in its place before the definition is checked. */
function inPlace(value: Fields): Fields {
  const stop = { ...value };
  liftTo(stop);
  normaliseComments(stop);
  const details = stop["stopDetails"];
  if (Array.isArray(details))
    stop["stopDetails"] = details.map((detail: unknown) => {
      if (!isFields(detail) || !isFields(detail["comments"])) return detail;
      const copy = { ...detail };
      normaliseComments(copy);
      return copy;
    });
  return stop;
}

function withLocalTimes(canonical: Fields, outerZone: unknown): Fields {
  const stop = { ...canonical };
  normaliseParty(stop, "from", outerZone);
  normaliseParty(stop, "to", outerZone);
  rewriteInstants(stop, ["receivedDttm"], firstZone(zoneOf(stop["to"]), zoneOf(stop["from"]), outerZone));
  const details = stop["stopDetails"];
  if (Array.isArray(details))
    stop["stopDetails"] = details.map((detail: unknown) => normaliseStopDetail(detail, stop, outerZone));
  return stop;
}

function createNormaliser(
  schema: TSchema,
  sentForm: (shown: unknown) => unknown,
): (value: unknown, outerZone?: unknown) => unknown {
  const canonical = createCanonicalForm(schema);
  return (came, outerZone) => {
    const value = sentForm(came);
    if (!isFields(value)) return value;
    const stop = canonical(inPlace(value));
    return isFields(stop) ? withLocalTimes(stop, outerZone) : stop;
  };
}

/**
 * The canonical form of a stop; a new object, the input is not changed. `outerZone` is the zone of the load that lists
 * it: it counts where the stop names none.
 */
export const normaliseStop = createNormaliser(Stop, sentStop);

/** The same for an order. */
export const normaliseOrder = createNormaliser(Order, sentOrder);
