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

const special = /["\\]/;

function elementOf(value: string): string {
  return special.test(value) ? `"${value.replaceAll(/["\\]/g, "\\$&")}"` : `"${value}"`;
}

/**
 * Texts, numbers and nulls as the server reads an array of them. The driver would copy each text twice to put marks before
 * characters that few have. Undefined when there is another value among them: the driver knows their forms.
 */
export function arrayText(values: readonly unknown[]): string | undefined {
  let text = "{";
  for (const [index, value] of values.entries()) {
    if (index > 0) text += ",";
    if (value === null || value === undefined) text += "NULL";
    else if (typeof value === "string") text += elementOf(value);
    else if (typeof value === "number") text += String(value);
    else return undefined;
  }
  return `${text}}`;
}
