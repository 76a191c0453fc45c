/** The filter of the list of deliveries, as it stands in the address. */
import { askedDeliveryStates, type DeliveryKind } from "../../../../../domain/outbound/delivery-state.ts";
import { given } from "../../../../../lib/given.ts";
import type { ConsoleRequest } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { words } from "../../words/words.ts";
import { faultsOfDays, fieldTexts, filled, spanOf } from "../filter-fields.ts";
import type { DeliveriesFilter } from "./deliveries-view.ts";

const names = ["company", "target", "state", "kind", "name", "stop", "fetched", "from", "to"] as const;
type FilterName = (typeof names)[number];

export type FilterTexts = Readonly<Record<FilterName, string>>;

export interface ReadDeliveriesFilter {
  /** As they were given. */
  readonly texts: FilterTexts;
  /** Undefined when a field has a fault. */
  readonly filter: DeliveriesFilter | undefined;
  /** Only those whose files nobody has fetched in time: the daemon knows which these are. */
  readonly isUncollected: boolean;
  readonly faults: Readonly<Partial<Record<FilterName, string>>>;
}

export const shownKinds: readonly DeliveryKind[] = ["completion", "export", "message"];

/** The one choice besides all. */
export const lateFetch = "late";

function faultsOf({ state, kind, fetched, from, to }: FilterTexts): ReadDeliveriesFilter["faults"] {
  const { faults } = words.deliveries;
  const own = {
    state: state === "" || askedDeliveryStates.some((one) => one === state) ? undefined : faults.state,
    kind: kind === "" || shownKinds.some((one) => one === kind) ? undefined : faults.kind,
    fetched: fetched === "" || fetched === lateFetch ? undefined : faults.fetched,
  };
  return { ...given(own), ...faultsOfDays({ from, to }, faults) };
}

/** Reads the filter of an address. */
export function readDeliveriesFilter(query: URLSearchParams): ReadDeliveriesFilter {
  const texts = fieldTexts(query, names);
  const faults = faultsOf(texts);
  const isUncollected = texts.fetched === lateFetch;
  if (Object.keys(faults).length > 0) return { texts, filter: undefined, isUncollected, faults };
  const filter = given({
    company: filled(texts.company),
    target: filled(texts.target),
    state: askedDeliveryStates.find((state) => state === texts.state),
    kind: shownKinds.find((kind) => kind === texts.kind),
    name: filled(texts.name),
    stop: filled(texts.stop),
  });
  return { texts, filter: { ...filter, ...spanOf(texts) }, isUncollected, faults };
}

/** With the deliveries that the daemon knows to be fetched too late, where these are asked for. */
export async function wholeFilter(
  { look }: Pick<ConsoleServices, "look">,
  { user }: Pick<ConsoleRequest, "user">,
  { filter = {}, isUncollected }: ReadDeliveriesFilter,
): Promise<DeliveriesFilter> {
  if (!isUncollected) return filter;
  const { ids } = await look("uncollected", user, {});
  return { ...filter, uncollected: ids };
}
