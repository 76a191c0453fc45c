/** Tables as CSV (RFC 4180): lines end with CR LF, every cell in quotes. */
import type { Answer } from "../../server/answer.ts";
import { attachment } from "../../server/content-disposition.ts";

export type CsvCell = string | number | null;

/** A spreadsheet takes a text with such a begin for a formula. */
const formula = /^[=+\-@\t\r]/;

/** A text that a spreadsheet would calculate gets an apostrophe before it. */
function cellOf(value: CsvCell): string {
  if (typeof value === "number") return String(value);
  const text = value ?? "";
  return `"${(formula.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
}

export function csvText(rows: readonly (readonly CsvCell[])[]): string {
  return rows.map((row) => `${row.map(cellOf).join(",")}\r\n`).join("");
}

/** So many rows a download has at most. */
export const mostCsvRows = 10_000;
/** So many rows are asked for at once. */
const rowsAtOnce = 1_000;

/** Some rows of a list, and the place after which the next ones come; undefined at its end. */
export interface CsvPage<Place> {
  readonly rows: readonly (readonly CsvCell[])[];
  readonly next: Place | undefined;
}

/** The rows of a list from a place on, or from its begin, page by page, so many that the answer stays small. */
export async function* csvRows<Place>(
  read: (from: Place | undefined, limit: number) => Promise<CsvPage<Place>>,
  begin?: Place,
): AsyncGenerator<readonly (readonly CsvCell[])[]> {
  let from = begin;
  let left = mostCsvRows;
  do {
    const page = await read(from, Math.min(rowsAtOnce, left));
    yield page.rows;
    left -= page.rows.length;
    from = page.next;
  } while (from !== undefined && left > 0);
}

/** The head with the first rows, then the others as they are found. */
async function* partsOf(head: readonly string[], pages: AsyncIterable<readonly (readonly CsvCell[])[]>) {
  let before = csvText([head]);
  for await (const rows of pages) {
    const text = before + csvText(rows);
    if (text !== "") yield text;
    before = "";
  }
  if (before !== "") yield before;
}

/** The table as a download of that name: its rows page by page, each asked for when the client has taken the one before. */
export function csvAnswer(
  name: string,
  head: readonly string[],
  pages: AsyncIterable<readonly (readonly CsvCell[])[]>,
): Answer {
  return {
    status: 200,
    contentType: "text/csv; charset=utf-8; header=present",
    headers: { "content-disposition": attachment(name, "table.csv") },
    body: { parts: partsOf(head, pages) },
  };
}
