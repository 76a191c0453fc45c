/** The filter of the page of files, as it stands in the address. */
import { dayMs } from "../../../../../lib/durations.ts";
import { errorCatalogue } from "../../../../../lib/errors.ts";
import { given } from "../../../../../lib/given.ts";
import { words } from "../../words/words.ts";
import { askedStates, type FilesFilter } from "./files-view.ts";

/** What was put into the fields, as text. */
export type FilterTexts = Readonly<Record<(typeof filterFields)[number], string>>;

/** `day` stands for `from` and `to` at once. */
const filterFields = ["company", "state", "reason", "channel", "user", "name", "day", "from", "to"] as const;

export interface ReadFilter {
  readonly texts: FilterTexts;
  /** Undefined when there are faults. */
  readonly filter: FilesFilter | undefined;
  /** What is wrong with a field. */
  readonly faults: Partial<Readonly<Record<keyof FilterTexts, string>>>;
}

const longest = 300;

function textsOf(query: URLSearchParams): FilterTexts {
  const texts = filterFields.map((field) => [field, (query.get(field) ?? "").trim().slice(0, longest)]);
  const { day, ...rest } = Object.fromEntries(texts) as FilterTexts;
  return day === "" ? { ...rest, day } : { ...rest, day: "", from: day, to: day };
}

/** The begin of a day (UTC) in milliseconds; undefined for no day. */
export function readDay(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const at = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== text ? undefined : at;
}

const reasonCodes = new Set(Object.values(errorCatalogue).map(({ reasonCode }) => reasonCode));

function faultsOf({ state, reason, from, to }: FilterTexts): ReadFilter["faults"] {
  const { faults } = words.files;
  const isDay = (text: string) => text === "" || readDay(text) !== undefined;
  const isState = state === "" || askedStates.some((one) => one === state);
  const isReason = reason === "" || (/^\d{1,5}$/.test(reason) && reasonCodes.has(Number(reason)));
  return given({
    state: isState ? undefined : faults.state,
    reason: isReason ? undefined : faults.reason,
    from: isDay(from) ? undefined : faults.day,
    to: !isDay(to)
      ? faults.day
      : isDay(from) && from !== "" && to !== "" && to < from
        ? faults.order
        : undefined,
  });
}

/** Reads the filter of an address. */
export function readFilter(query: URLSearchParams): ReadFilter {
  const texts = textsOf(query);
  const faults = faultsOf(texts);
  if (Object.keys(faults).length > 0) return { texts, filter: undefined, faults };
  const textOf = (text: string) => (text === "" ? undefined : text);
  const last = readDay(texts.to);
  const filter = given({
    company: textOf(texts.company),
    state: askedStates.find((state) => state === texts.state),
    reason: texts.reason === "" ? undefined : Number(texts.reason),
    channel: textOf(texts.channel),
    user: textOf(texts.user),
    name: textOf(texts.name),
    since: readDay(texts.from),
    until: last === undefined ? undefined : last + dayMs,
  });
  return { texts, filter, faults };
}

/** The fields of the address that ask for the same again. */
export function filterQuery({ day: _, ...texts }: FilterTexts): Readonly<Record<string, string>> {
  return texts;
}
