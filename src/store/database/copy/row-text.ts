/**
 * Rows as lines of text: the form in which PostgreSQL takes many rows at once (`copy … from stdin`), and of which the hash of a
 * table is made. No two rows have the same line.
 */
import { createHash } from "node:crypto";
import type { CopiedRow } from "./copy-side.ts";

const escapes: Readonly<Record<string, string>> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };
const special = /[\\\t\n\r]/;
const eachSpecial = /[\\\t\n\r]/g;

function escaped(value: string): string {
  return special.test(value) ? value.replace(eachSpecial, (character) => escapes[character] ?? "") : value;
}

/** A line for each row, with its end; columns between tabs, null as `\N`. */
export function linesOf(rows: readonly CopiedRow[]): string {
  let lines = "";
  for (const row of rows) {
    for (let at = 0; at < row.length; at += 1) {
      const value = row[at] ?? null;
      lines += `${at === 0 ? "" : "\t"}${value === null ? "\\N" : escaped(value)}`;
    }
    lines += "\n";
  }
  return lines;
}

/** A real number in one form, whichever database has written it; SQLite keeps no sign of zero. */
export function realText(value: number): string {
  return String(value);
}

export interface TableSum {
  readonly rows: number;
  readonly sha256: string;
}

/** Counts and hashes the rows of a table that pass. */
export class SummedRows {
  #rows = 0;
  readonly #hash = createHash("sha256");

  async *passing(batches: AsyncIterable<readonly CopiedRow[]>): AsyncIterable<readonly CopiedRow[]> {
    for await (const batch of batches) {
      this.#rows += batch.length;
      this.#hash.update(linesOf(batch));
      yield batch;
    }
  }

  get rows(): number {
    return this.#rows;
  }

  /** Once, at the end. */
  sum(): TableSum {
    return { rows: this.#rows, sha256: this.#hash.digest("hex") };
  }
}
