/** Legacy JSON retrieval of stops (specification/legacy-services.md#json-retrieval). */
import type { Reader } from "../../store/database/database.ts";
import { findLoadsByIds } from "../../store/stops/load-queries.ts";
import {
  countStops,
  eachStopBatch,
  type IndexedStopField,
  indexedStopFields,
  type StopSelection,
  type StoredStop,
} from "../../store/stops/stop-queries.ts";
import { indexFields, type LegacyFilter } from "./legacy-filter.ts";
import { type LegacyCompany, legacyLoadHeaders } from "./legacy-load-shape.ts";
import { legacySearchOf, type SplitFilters } from "./legacy-search.ts";
import { legacyStop, legacyStopFields } from "./legacy-stop-shape.ts";

function isIndexed(name: string | undefined): name is IndexedStopField {
  return name !== undefined && indexedStopFields.has(name);
}

/** The column for a filter on one place: a field of the stop itself, or the number of its load. */
function columnOf({ paths }: LegacyFilter): IndexedStopField | undefined {
  const [path] = paths;
  if (paths.length !== 1 || path === undefined) return undefined;
  if (path.join(".") === "loadId.loadHeader.loadNbr") return "loadNbr";
  return path.length === 1 && isIndexed(path[0]) ? path[0] : undefined;
}

function splitFilters(companyId: number, filters: readonly LegacyFilter[]): SplitFilters<StopSelection> {
  const fields: Partial<Record<IndexedStopField, readonly string[]>> = {};
  const others: LegacyFilter[] = [];
  for (const filter of filters) {
    const column = columnOf(filter);
    if (column === undefined) others.push(filter);
    else fields[column] = filter.values;
  }
  return { selection: { companyId, fields }, others };
}

async function shapeStops(
  db: Reader,
  company: LegacyCompany,
  rows: readonly StoredStop[],
): Promise<readonly object[]> {
  const ids = new Set(rows.map(({ loadId }) => loadId).filter((id) => id !== null));
  const headers = await legacyLoadHeaders(
    db,
    company,
    ids.size === 0 ? [] : await findLoadsByIds(db, [...ids]),
  );
  return rows.map((row) => legacyStop(row, row.loadId === null ? undefined : headers.get(row.loadId)));
}

/** One page of the company's stops. */
export const findLegacyStops = legacySearchOf<StopSelection, StoredStop>({
  fields: indexFields(legacyStopFields),
  split: splitFilters,
  count: countStops,
  batches: eachStopBatch,
  shape: shapeStops,
});
