import { printable } from "./command-line.ts";

/** Lines of an aligned table, two spaces between columns. Numbers are aligned to the right. */
export function tableLines(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): readonly string[] {
  const cells = rows.map((row) => row.map((cell) => printable(String(cell))));
  const widths = head.map((title, column) =>
    cells.reduce((widest, row) => Math.max(widest, row[column]?.length ?? 0), title.length),
  );
  const isNumber = head.map(
    (_title, column) => rows.length > 0 && rows.every((row) => typeof row[column] === "number"),
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return isNumber[column] ? cell.padStart(width) : cell.padEnd(width);
      })
      .join("  ")
      .trimEnd();
  return [head, ...cells].map(line);
}
