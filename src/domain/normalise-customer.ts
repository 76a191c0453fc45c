/** The canonical form of a customer as it came: operating hours with two digits each (decisions 2.2). */
import { type Fields, isFields, rewrite } from "./fields-of-json.ts";
import { normaliseTimeOfDay } from "./local-time.ts";

function normaliseAddress(value: unknown): unknown {
  const hours = isFields(value) ? value["operatingHours"] : undefined;
  if (!isFields(value) || !isFields(hours)) return value;
  const operatingHours: Fields = { ...hours };
  rewrite(operatingHours, "timeFrom", normaliseTimeOfDay);
  rewrite(operatingHours, "timeTo", normaliseTimeOfDay);
  return { ...value, operatingHours };
}

/** A new object; nothing is changed in place. What cannot be read is left as it is, so that the check names it. */
export function normaliseCustomer(value: unknown): unknown {
  if (!isFields(value) || !Array.isArray(value["addresses"])) return value;
  return { ...value, addresses: value["addresses"].map(normaliseAddress) };
}
