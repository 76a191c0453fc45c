/**
 * Lists whose rows differ much in size: a stop has some hundred bytes or, with documents and long lists, 20 MB. The first
 * query, which costs little, reads the sizes; the rows then come in batches bounded by number and by bytes. Nothing is open
 * between two queries, so neither memory nor the write-ahead log grows while a caller goes through a million rows.
 */
export interface Page {
  readonly limit: number;
  readonly offset: number;
}

export const everyRow: Page = { limit: Number.POSITIVE_INFINITY, offset: 0 };

export interface SizedRow {
  readonly id: number;
  /** The key that the list is ordered by. */
  readonly key: number | string;
  readonly bytes: number;
}

export interface BatchSource<Row> {
  /** Sorts before all keys. */
  readonly start: number | string;
  /** The rows behind a key, in their order. */
  sizes(after: number | string, page: Page): Promise<readonly SizedRow[]>;
  /** These rows, in the same order. */
  rows(ids: readonly number[]): Promise<readonly Row[]>;
}

const maxRows = 100;
/** Most bytes of the rows that are in memory at once, unless one alone has more. */
export const maxBatchBytes = 1024 * 1024;

/** As many of them as fit, and one at least. */
export function firstThatFit<Row extends Pick<SizedRow, "bytes">>(sizes: readonly Row[]): readonly Row[] {
  let bytes = 0;
  const end = sizes.findIndex((row) => {
    bytes += row.bytes;
    return bytes > maxBatchBytes;
  });
  return end === -1 ? sizes : sizes.slice(0, Math.max(1, end));
}

/** The rows of the page in batches: 100 rows and `maxBatchBytes` at most, or one row that is larger. */
export async function* eachBatch<Row>(
  source: BatchSource<Row>,
  { limit, offset }: Page,
): AsyncGenerator<readonly Row[]> {
  let after = source.start;
  let left = limit;
  let skip = offset;
  while (left > 0) {
    const wanted = Math.min(maxRows, left);
    const sizes = await source.sizes(after, { limit: wanted, offset: skip });
    const batch = firstThatFit(sizes);
    const last = batch.at(-1);
    if (last === undefined) return;
    yield await source.rows(batch.map(({ id }) => id));
    if (batch.length === sizes.length && sizes.length < wanted) return;
    after = last.key;
    left -= batch.length;
    skip = 0;
  }
}
