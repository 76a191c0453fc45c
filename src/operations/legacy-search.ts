/**
 * One page of a legacy retrieval (decisions 7).
 *
 * Filters with a column of their own are put to the database, which has an index for each. All others are looked up in the
 * results, batch by batch: slow over a million rows, but in bounded memory and without holding up anybody else.
 */
import { setImmediate } from "node:timers/promises";
import { type LegacyFilter, type LegacyQuery, passesFilters } from "./legacy-filter.ts";

export interface LegacyPage {
  /** A JSON array. */
  readonly json: string;
  /** How many match in all. */
  readonly total: number;
}

/** Where the rows come from: those that the filters with columns have selected. */
export interface LegacySource<Row> {
  count(): Promise<number>;
  list(page: { readonly limit: number; readonly offset: number }): Promise<readonly Row[]>;
  batches(size: number): AsyncIterable<readonly Row[]>;
  /** The rows in the shape of the result. */
  shape(rows: readonly Row[]): Promise<readonly object[]>;
}

export interface LegacySearch<Row> {
  readonly source: LegacySource<Row>;
  /** Filters that the source knows nothing of. */
  readonly others: readonly LegacyFilter[];
  readonly page: LegacyQuery;
}

const batchSize = 100;

async function searchAll<Row>(
  { source, others, page }: LegacySearch<Row>,
  signal: AbortSignal | undefined,
): Promise<LegacyPage> {
  const results: object[] = [];
  let total = 0;
  for await (const batch of source.batches(batchSize)) {
    for (const result of await source.shape(batch)) {
      if (!passesFilters(result, others)) continue;
      total += 1;
      if (total > page.offset && results.length < page.limit) results.push(result);
    }
    // The database answers synchronously: without a pause nobody else would get a turn.
    await setImmediate();
    signal?.throwIfAborted();
  }
  return { json: JSON.stringify(results), total };
}

/** The page in an order that stays the same from page to page. Rejects when aborted. */
export async function searchLegacy<Row>(
  search: LegacySearch<Row>,
  signal?: AbortSignal,
): Promise<LegacyPage> {
  if (search.others.length > 0) return await searchAll(search, signal);
  const { source, page } = search;
  const total = await source.count();
  const rows = page.offset >= total ? [] : await source.list(page);
  return { json: JSON.stringify(await source.shape(rows)), total };
}
