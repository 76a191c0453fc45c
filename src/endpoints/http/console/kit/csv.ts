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

export function csvText(head: readonly string[], rows: readonly (readonly CsvCell[])[]): string {
  return [head, ...rows].map((row) => `${row.map(cellOf).join(",")}\r\n`).join("");
}

/** The table as a download of that name. */
export function csvAnswer(
  name: string,
  head: readonly string[],
  rows: readonly (readonly CsvCell[])[],
): Answer {
  return {
    status: 200,
    contentType: "text/csv; charset=utf-8; header=present",
    headers: { "content-disposition": attachment(name, "table.csv") },
    body: csvText(head, rows),
  };
}
