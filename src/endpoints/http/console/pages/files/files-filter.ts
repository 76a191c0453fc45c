/** The filter of the page of files, as it stands in the address. */
import { errorCatalogue } from "../../../../../lib/errors.ts";
import { given } from "../../../../../lib/given.ts";
import { words } from "../../words/words.ts";
import { faultsOfDays, fieldTexts, filled, spanOf } from "../filter-fields.ts";
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

function textsOf(query: URLSearchParams): FilterTexts {
  const { day, ...rest } = fieldTexts(query, filterFields);
  return day === "" ? { ...rest, day } : { ...rest, day: "", from: day, to: day };
}

const reasonCodes = new Set(Object.values(errorCatalogue).map(({ reasonCode }) => reasonCode));

function faultsOf({ state, reason, from, to }: FilterTexts): ReadFilter["faults"] {
  const { faults } = words.files;
  const isState = state === "" || askedStates.some((one) => one === state);
  const isReason = reason === "" || (/^\d{1,5}$/.test(reason) && reasonCodes.has(Number(reason)));
  const own = { state: isState ? undefined : faults.state, reason: isReason ? undefined : faults.reason };
  return { ...given(own), ...faultsOfDays({ from, to }, faults) };
}

/** Reads the filter of an address. */
export function readFilter(query: URLSearchParams): ReadFilter {
  const texts = textsOf(query);
  const faults = faultsOf(texts);
  if (Object.keys(faults).length > 0) return { texts, filter: undefined, faults };
  const filter = given({
    company: filled(texts.company),
    state: askedStates.find((state) => state === texts.state),
    reason: texts.reason === "" ? undefined : Number(texts.reason),
    channel: filled(texts.channel),
    user: filled(texts.user),
    name: filled(texts.name),
  });
  return { texts, filter: { ...filter, ...spanOf(texts) }, faults };
}

/** The fields of the address that ask for the same again. */
export function filterQuery({ day: _, ...texts }: FilterTexts): Readonly<Record<string, string>> {
  return texts;
}
