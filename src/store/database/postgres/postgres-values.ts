/** The values that go to PostgreSQL and come from it, in the forms that SQLite has for them. */
import pg from "pg";
import { StoreError } from "../../../lib/store-error.ts";

/** Object ids of types, as the server's catalogue has them. */
const types = { boolean: 16, bigint: 20, numeric: 1700 } as const;

function exactNumber(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new StoreError("damaged", `PostgreSQL: ${text} is no number that dropgate has written`, undefined);
  return value;
}

/** A boolean is 0 or 1, a bigint and a numeric a number; a bigint over 2^53 is an error and never rounded. */
const parsers: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [types.boolean, (text) => (text === "t" ? 1 : 0)],
  [types.bigint, exactNumber],
  [types.numeric, Number],
]);

export const typeParsers: pg.CustomTypesConfig = {
  getTypeParser: (type: number, format?: "text" | "binary") =>
    (format === "binary" ? undefined : parsers.get(type)) ?? pg.types.getTypeParser(type, format),
};

const nul = "\u0000";

/** Refuses the one character that PostgreSQL has no place for in texts; SQLite takes it. */
export function checkValues(values: readonly unknown[]): void {
  for (const value of values) {
    if (Array.isArray(value)) checkValues(value);
    else if (typeof value === "string" && value.includes(nul)) {
      const fault = "a text has the character NUL (U+0000), which PostgreSQL cannot store: leave it out";
      throw new StoreError("refused", fault, undefined);
    }
  }
}

type TextOrNull = string | null | undefined;

const textOid = 25;
const headerBytes = 20;

/** The server's binary form: the header of an array of one dimension, and each element behind its length. */
function textArray(values: readonly TextOrNull[]): Buffer {
  const lengths = values.map((value) => (typeof value === "string" ? Buffer.byteLength(value) : -1));
  const total = lengths.reduce((sum, length) => sum + 4 + Math.max(length, 0), headerBytes);
  const bytes = Buffer.allocUnsafe(total);
  const hasNull = lengths.includes(-1) ? 1 : 0;
  for (const [index, field] of [1, hasNull, textOid, values.length, 1].entries())
    bytes.writeInt32BE(field, 4 * index);
  let at = headerBytes;
  for (const [index, length] of lengths.entries()) {
    at = bytes.writeInt32BE(length, at);
    if (length > 0) at += bytes.write(values[index] ?? "", at);
  }
  return bytes;
}

function isTextOrNull(value: unknown): value is TextOrNull {
  return value === null || value === undefined || typeof value === "string";
}

/**
 * The values as one parameter, an array of that type. Texts go in binary form: in the other one, JSON has a mark before each
 * of its quotes, and those took a tenth of what a route event costs the daemon.
 */
export function arrayParameter(values: readonly unknown[], type: string | undefined): unknown {
  return type === "text" && values.every(isTextOrNull) ? textArray(values) : values;
}
