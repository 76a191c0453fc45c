/**
 * One page of a legacy retrieval (specification/legacy-services.md#filters).
 *
 * The database applies filters with a column of their own, and has an index for each. All others are applied to the
 * results, which is slow over a million rows. Either way rows come batch by batch, in bounded memory and with turns for
 * others.
 */
import { setImmediate } from "node:timers/promises";
import type { Reader } from "../../store/database/database.ts";
import { everyRow, type Page } from "../../store/database/row-batches.ts";
import type { ReadDeps } from "../operation-deps.ts";
import { BoundedList } from "../stops/bounded-list.ts";
import {
  type FieldIndex,
  type LegacyFilter,
  type LegacyQuery,
  type NamedValue,
  passesFilters,
  readLegacyQuery,
} from "./legacy-filter.ts";
import type { LegacyCompany, ShownNumbers } from "./legacy-load-shape.ts";

export interface LegacyDeps extends ReadDeps {
  /** What numbers of rows are shown as; themselves when it is not given. */
  readonly shownNumbers?: ShownNumbers;
}

export interface LegacyPageQuery {
  readonly companyId: number;
  /** As registered. */
  readonly companyCode: string;
  /** Filters, `limit` and `offset`, in the order they came; names may be repeated. */
  readonly parameters: readonly NamedValue[];
}

export interface LegacyPage {
  /** A JSON array. */
  readonly json: string;
  /** How many match in all. */
  readonly total: number;
}

export interface SplitFilters<Selection> {
  /** What the database selects by. */
  readonly selection: Selection;
  /** Filters that it has no column for. */
  readonly others: readonly LegacyFilter[];
}

/** What can be retrieved, and where it comes from. */
export interface LegacyKind<Selection, Row> {
  readonly fields: FieldIndex;
  split(companyId: number, filters: readonly LegacyFilter[]): SplitFilters<Selection>;
  count(db: Reader, selection: Selection): Promise<number>;
  /** The page of the selection, in an order that stays the same. */
  batches(db: Reader, selection: Selection, page: Page): AsyncIterable<readonly Row[]>;
  /** The rows in the shape of the result. */
  shape(db: Reader, company: LegacyCompany, rows: readonly Row[]): Promise<readonly object[]>;
}

interface LegacySearch<Selection> extends SplitFilters<Selection> {
  readonly db: Reader;
  readonly company: LegacyCompany;
  readonly page: LegacyQuery;
}

const remedy = "Ask for fewer results at a time, with limit and offset, or by a filter.";

/** What is selected, or with other filters what passes these of all that is selected, batch by batch. */
async function search<Selection, Row>(
  kind: LegacyKind<Selection, Row>,
  { db, company, page, selection, others }: LegacySearch<Selection>,
  signal: AbortSignal | undefined,
): Promise<LegacyPage> {
  const isSearch = others.length > 0;
  const answer = new BoundedList(remedy);
  let total = isSearch ? 0 : await kind.count(db, selection);
  for await (const batch of kind.batches(db, selection, isSearch ? everyRow : page)) {
    for (const result of await kind.shape(db, company, batch)) {
      if (!isSearch) answer.add(JSON.stringify(result));
      else if (passesFilters(result, others)) {
        total += 1;
        if (total > page.offset && answer.length < page.limit) answer.add(JSON.stringify(result));
      }
    }
    // The database answers synchronously: without a pause nobody else would get a turn.
    await setImmediate();
    signal?.throwIfAborted();
  }
  return { json: answer.json, total };
}

/**
 * Makes the retrieval of one page, in an order that stays the same from page to page. It throws 910 for unknown filters, 902
 * for bad paging, and rejects when aborted.
 */
export function legacySearchOf<Selection, Row>(kind: LegacyKind<Selection, Row>) {
  return async (deps: LegacyDeps, query: LegacyPageQuery, signal?: AbortSignal): Promise<LegacyPage> => {
    const page = readLegacyQuery(kind.fields, query.parameters);
    const { companyId } = query;
    const split = kind.split(companyId, page.filters);
    const { store, shownNumbers: shown } = deps;
    const company = shown === undefined ? { companyId } : { companyId, shown };
    return await search(kind, { db: store.read, company, page, ...split }, signal);
  };
}
