/**
 * Fields that details return beside those that an import takes: a client that reads, changes and sends back a detail is
 * not refused for them, and none of them is stored.
 */
import { type Fields, isFields } from "./fields-of-json.ts";

/** What the answer to an order has besides the order. */
const shownOfOrders = ["orderStatus", "stopExecutionInfo", "cancellation", "appointment"] as const;

/** What answers about appointments have besides the request. */
const shownOfAppointments = ["serviceRegion", "timeSlots", "apptStatus", "apptTTL"] as const;

function without(fields: Fields, names: readonly string[]): Fields {
  if (!names.some((name) => name in fields)) return fields;
  const rest = { ...fields };
  for (const name of names) delete rest[name];
  return rest;
}

/** The stop of a retrieval document, `{ stop, load, stopExecutionInfo, appointment }`; anything else is itself. */
export function sentStop(value: unknown): unknown {
  if (!isFields(value) || !("stopExecutionInfo" in value) || !isFields(value["stop"])) return value;
  return value["stop"];
}

/** A load without its execution info, its stops without theirs. */
export function sentLoad(value: Fields): Fields {
  const load = without(value, ["loadExecutionInfo"]);
  const { stops } = load;
  return Array.isArray(stops) ? { ...load, stops: stops.map(sentStop) } : load;
}

/** An order without what only its answer has. */
export function sentOrder(value: unknown): unknown {
  return isFields(value) ? without(value, shownOfOrders) : value;
}

/** A request for time slots, or for one, without what only its answer has. */
export function sentAppointment(value: unknown): unknown {
  return isFields(value) ? without(value, shownOfAppointments) : value;
}
