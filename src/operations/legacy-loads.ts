/** Legacy JSON retrieval of loads (interface 4.10, decisions 7). */
import { isLoadStatus } from "../domain/load-status.ts";
import {
  countLoads,
  eachLoadBatch,
  listLoads,
  type LoadSelection,
  type StoredLoad,
} from "../store/load-queries.ts";
import { indexFields, type LegacyFilter, readLegacyQuery } from "./legacy-filter.ts";
import { legacyLoadFields, legacyLoads } from "./legacy-load-shape.ts";
import { type LegacyPage, type LegacySource, searchLegacy } from "./legacy-search.ts";
import type { LegacyDeps, LegacyPageQuery } from "./legacy-stops.ts";

const fieldIndex = indexFields(legacyLoadFields);

interface SplitFilters {
  readonly selection: LoadSelection;
  readonly others: readonly LegacyFilter[];
}

function splitFilters(companyId: number, filters: readonly LegacyFilter[]): SplitFilters {
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

/** One page of the company's loads. Throws 910 for unknown filters, 902 for bad paging. */
export async function findLegacyLoads(
  deps: LegacyDeps,
  query: LegacyPageQuery,
  signal?: AbortSignal,
): Promise<LegacyPage> {
  const db = deps.store.read;
  const page = readLegacyQuery(fieldIndex, query.parameters);
  const { selection, others } = splitFilters(query.companyId, page.filters);
  const source: LegacySource<StoredLoad> = {
    count: () => countLoads(db, selection),
    list: (part) => listLoads(db, selection, part),
    batches: (size) => eachLoadBatch(db, selection, size),
    shape: (rows) => legacyLoads(db, query, rows),
  };
  return await searchLegacy({ source, others, page }, signal);
}
