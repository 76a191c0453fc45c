/**
 * Legacy JSON retrieval of stops (interface 4.10, decisions 7).
 *
 * Filters on numbers, status and references are put to the database, which has an index for each. All others are looked
 * up in the results, batch by batch: slow over many stops, but in bounded memory and without holding up anybody else.
 */
import { setImmediate } from "node:timers/promises";
import type { Reader } from "../store/database.ts";
import {
  countStops,
  eachStopBatch,
  type IndexedStopField,
  indexedStopFields,
  listStops,
  type StopSelection,
} from "../store/stop-queries.ts";
import {
  indexFields,
  type LegacyFilter,
  type LegacyQuery,
  type NamedValue,
  passesFilters,
  readLegacyQuery,
} from "./legacy-filter.ts";
import { type LegacyStop, legacyStop, legacyStopFields } from "./legacy-stop-shape.ts";

export interface LegacyStopsDeps {
  readonly store: { readonly read: Reader };
}

export interface LegacyStopsQuery {
  readonly companyId: number;
  /** Filters, `limit` and `offset`, in the order they came; names may be repeated. */
  readonly parameters: readonly NamedValue[];
}

export interface LegacyStopsPage {
  /** A JSON array. */
  readonly json: string;
  /** How many stops match in all. */
  readonly total: number;
}

const fieldIndex = indexFields(legacyStopFields);
const batchSize = 100;

function isIndexed(name: string | undefined): name is IndexedStopField {
  return name !== undefined && indexedStopFields.has(name);
}

interface SplitFilters {
  readonly selection: StopSelection;
  readonly others: readonly LegacyFilter[];
}

function splitFilters(companyId: number, filters: readonly LegacyFilter[]): SplitFilters {
  const fields: Partial<Record<IndexedStopField, readonly string[]>> = {};
  const others: LegacyFilter[] = [];
  for (const filter of filters) {
    const [path] = filter.paths;
    const name = path?.length === 1 ? path[0] : undefined;
    if (isIndexed(name)) fields[name] = filter.values;
    else others.push(filter);
  }
  return { selection: { companyId, fields }, others };
}

async function searchStops(
  db: Reader,
  { selection, others }: SplitFilters,
  page: LegacyQuery,
  signal: AbortSignal | undefined,
): Promise<{ stops: LegacyStop[]; total: number }> {
  const stops: LegacyStop[] = [];
  let total = 0;
  for await (const batch of eachStopBatch(db, selection, batchSize)) {
    for (const stored of batch) {
      const stop = legacyStop(stored);
      if (!passesFilters(stop, others)) continue;
      total += 1;
      if (total > page.offset && stops.length < page.limit) stops.push(stop);
    }
    // The database answers synchronously: without a pause nobody else would get a turn.
    await setImmediate();
    signal?.throwIfAborted();
  }
  return { stops, total };
}

/** One page of the company's stops, in an order that stays the same from page to page. Throws 910 for unknown filters, 902 for bad paging. */
export async function findLegacyStops(
  deps: LegacyStopsDeps,
  query: LegacyStopsQuery,
  signal?: AbortSignal,
): Promise<LegacyStopsPage> {
  const page = readLegacyQuery(fieldIndex, query.parameters);
  const split = splitFilters(query.companyId, page.filters);
  const db = deps.store.read;
  if (split.others.length > 0) {
    const { stops, total } = await searchStops(db, split, page, signal);
    return { json: JSON.stringify(stops), total };
  }
  const total = await countStops(db, split.selection);
  const stored = page.offset >= total ? [] : await listStops(db, split.selection, page);
  return { json: JSON.stringify(stored.map(legacyStop)), total };
}
