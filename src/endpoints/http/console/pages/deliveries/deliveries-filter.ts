/** The filter of the list of deliveries, as it stands in the address. */
import {
  type DeliveryKind,
  deliveryStates,
  isDeliveryState,
} from "../../../../../domain/outbound/delivery-state.ts";
import { dayMs } from "../../../../../lib/durations.ts";
import { given } from "../../../../../lib/given.ts";
import { words } from "../../words/words.ts";
import { readDay } from "../files/files-filter.ts";
import type { DeliveriesFilter } from "./deliveries-view.ts";

const names = ["company", "target", "state", "kind", "name", "stop", "from", "to"] as const;
type FilterName = (typeof names)[number];

export type FilterTexts = Readonly<Record<FilterName, string>>;

export interface ReadDeliveriesFilter {
  /** As they were given. */
  readonly texts: FilterTexts;
  /** Undefined when a field has a fault. */
  readonly filter: DeliveriesFilter | undefined;
  readonly faults: Readonly<Partial<Record<FilterName, string>>>;
}

export const shownKinds: readonly DeliveryKind[] = ["completion", "export", "message"];
export const shownStates = deliveryStates;

function faultsOf({ state, kind, from, to }: FilterTexts): ReadDeliveriesFilter["faults"] {
  const { faults } = words.deliveries;
  const isDay = (text: string) => text === "" || readDay(text) !== undefined;
  const isOrdered = from === "" || to === "" || from <= to;
  return given({
    state: state === "" || isDeliveryState(state) ? undefined : faults.state,
    kind: kind === "" || shownKinds.some((one) => one === kind) ? undefined : faults.kind,
    from: isDay(from) ? undefined : faults.day,
    to: isDay(to) ? (isOrdered ? undefined : faults.order) : faults.day,
  });
}

/** Reads the filter of an address. */
export function readDeliveriesFilter(query: URLSearchParams): ReadDeliveriesFilter {
  const entries = names.map((name) => [name, (query.get(name) ?? "").trim().slice(0, 300)] as const);
  const texts = Object.fromEntries(entries) as FilterTexts;
  const faults = faultsOf(texts);
  if (Object.keys(faults).length > 0) return { texts, filter: undefined, faults };
  const textOf = (text: string) => (text === "" ? undefined : text);
  const last = readDay(texts.to);
  const filter = given({
    company: textOf(texts.company),
    target: textOf(texts.target),
    state: isDeliveryState(texts.state) ? texts.state : undefined,
    kind: shownKinds.find((kind) => kind === texts.kind),
    name: textOf(texts.name),
    stop: textOf(texts.stop),
    since: readDay(texts.from),
    until: last === undefined ? undefined : last + dayMs,
  });
  return { texts, filter, faults };
}
