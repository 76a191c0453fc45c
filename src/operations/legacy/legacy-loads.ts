/** Legacy JSON retrieval of loads (specification/legacy-services.md#json-retrieval). */
import { isLoadStatus } from "../../domain/load/load-status.ts";
import {
  countLoads,
  eachLoadBatch,
  type LoadSelection,
  type StoredLoad,
} from "../../store/stops/load-queries.ts";
import { indexFields, type LegacyFilter } from "./legacy-filter.ts";
import { legacyLoadFields, legacyLoads } from "./legacy-load-shape.ts";
import { legacySearchOf, type SplitFilters } from "./legacy-search.ts";

function splitFilters(companyId: number, filters: readonly LegacyFilter[]): SplitFilters<LoadSelection> {
  const others: LegacyFilter[] = [];
  let selection: LoadSelection = { companyId };
  for (const filter of filters) {
    const name = filter.paths.length === 1 ? filter.paths[0]?.join(".") : undefined;
    if (name === "loadNbr") selection = { ...selection, loadNbrs: filter.values };
    else if (name === "reference") selection = { ...selection, references: filter.values };
    else if (name === "status")
      selection = { ...selection, statuses: filter.values.map(Number).filter(isLoadStatus) };
    else others.push(filter);
  }
  return { selection, others };
}

/** One page of the company's loads. */
export const findLegacyLoads = legacySearchOf<LoadSelection, StoredLoad>({
  fields: indexFields(legacyLoadFields),
  split: splitFilters,
  count: countLoads,
  batches: eachLoadBatch,
  shape: legacyLoads,
});
