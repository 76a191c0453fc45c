/** What lists are filtered by, as it stands in the address: texts, and a span of days (UTC). */
import { dayMs } from "../../../../lib/durations.ts";
import { given } from "../../../../lib/given.ts";

const longest = 300;

/** What was put into the fields; empty where nothing was. */
export function fieldTexts<Name extends string>(
  query: URLSearchParams,
  names: readonly Name[],
): Readonly<Record<Name, string>> {
  const texts = names.map((name) => [name, (query.get(name) ?? "").trim().slice(0, longest)]);
  return Object.fromEntries(texts) as Record<Name, string>;
}

/** The text of a field; undefined when it is empty. */
export function filled(text: string): string | undefined {
  return text === "" ? undefined : text;
}

/** The begin of a day (UTC) in milliseconds; undefined for no day. */
export function readDay(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const at = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== text ? undefined : at;
}

/** The first and the last day, as text; each may be empty. */
export interface Days {
  readonly from: string;
  readonly to: string;
}

/** What is wrong with the days: one is none, or the last comes before the first. */
export function faultsOfDays(
  { from, to }: Days,
  faults: { readonly day: string; readonly order: string },
): Readonly<Partial<Record<keyof Days, string>>> {
  const [isFrom, isTo] = [from, to].map((text) => text === "" || readDay(text) !== undefined);
  const isBehind = isFrom && from !== "" && to !== "" && to < from;
  return given({
    from: isFrom ? undefined : faults.day,
    to: isTo ? (isBehind ? faults.order : undefined) : faults.day,
  });
}

/** From the begin of the first day to the end of the last, milliseconds UTC. */
export function spanOf({ from, to }: Days): { readonly since?: number; readonly until?: number } {
  const last = readDay(to);
  return given({ since: readDay(from), until: last === undefined ? undefined : last + dayMs });
}
