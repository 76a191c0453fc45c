/**
 * Instants (date-times with `Z` or an offset) become local date-times in the time zone that stands beside them. Without a
 * zone they stay as they are, and the check refuses them.
 */
import { type Fields, rewrite } from "../fields/fields-of-json.ts";
import { isTimeZone, readInstant } from "./local-time.ts";
import { localTimeOf } from "./zoned-time.ts";

/** The first of these that is a time zone. */
export function firstZone(...candidates: readonly unknown[]): string | undefined {
  return candidates.find((one): one is string => typeof one === "string" && isTimeZone(one));
}

/** Changes instants among these fields in place. */
export function rewriteInstants(fields: Fields, names: readonly string[], zone: string | undefined): void {
  if (zone === undefined) return;
  for (const name of names)
    rewrite(fields, name, (text) => {
      const at = readInstant(text);
      return at === undefined ? undefined : localTimeOf(at, zone);
    });
}
