/** Entities made from their definitions: at random, or with every field there is and as long as it may be. */
import type { TSchema } from "@sinclair/typebox";

const letters = ["a", "Z", "7", "-", "ä", "ß", "字", "😀", '"', "\\", "<", "&", "'", "é"];
const formats: Readonly<Record<string, readonly string[]>> = {
  "local-date-time": ["2026-11-05T08:00:00", "2024-02-29T23:59:59"],
  "date-or-date-time": ["2026-11-05", "2026-11-05T08:00:00.000Z", "2026-11-05T08:00:00"],
  "time-zone": ["America/Chicago", "CET", "Europe/Berlin"],
  "time-of-day": ["08:00:00", "23:59:59"],
  "duration-text": ["15", "0.5"],
};

export interface EntityMaker {
  /** A number from 0 to 1. */
  readonly random: () => number;
  /** Every field, at its greatest length. */
  readonly isMaximal: boolean;
  /** Values of fields by their names, instead of made ones. */
  readonly given: Readonly<Record<string, unknown>>;
}

function pick<T>(maker: EntityMaker, from: readonly T[]): T {
  const index = maker.isMaximal ? 0 : Math.floor(maker.random() * from.length);
  return from[index] as T;
}

function textOf(maker: EntityMaker, maximum: number): string {
  const length = maker.isMaximal ? maximum : Math.floor(maker.random() * Math.min(maximum, 12));
  const made = Array.from({ length }, () => letters[Math.floor(maker.random() * letters.length)]).join("");
  // Numbers and codes have no blanks at their ends, no slashes, and are no path.
  return made.replace(/[\\/]/g, "x");
}

function numberOf({ random, isMaximal }: EntityMaker, schema: TSchema): number {
  const { minimum = 0, maximum = 1_000, "x-maxLength": length = 10 } = schema;
  if (isMaximal) return Math.min(maximum, 10 ** (length - 1));
  return Math.round((minimum + random() * (maximum - minimum)) * 100) / 100;
}

function leafOf(maker: EntityMaker, schema: TSchema): unknown {
  if ("const" in schema) return schema["const"];
  const format = formats[String(schema["format"])];
  if (format !== undefined) return pick(maker, format);
  if (schema["type"] === "string") return textOf(maker, Math.min(schema["maxLength"] ?? 40, 2_000)) || "x";
  if (schema["type"] === "number") return numberOf(maker, schema);
  if (schema["type"] === "boolean") return maker.random() < 0.5;
  if (schema["type"] === "null") return null;
  throw new Error(`nothing is known of ${JSON.stringify(schema).slice(0, 200)}`);
}

function objectOf(maker: EntityMaker, schema: TSchema): Record<string, unknown> {
  const properties = schema["properties"] as Readonly<Record<string, TSchema>>;
  const required = new Set<string>(schema["required"] ?? []);
  const made: Record<string, unknown> = {};
  for (const [name, one] of Object.entries(properties)) {
    if (!required.has(name) && !maker.isMaximal && maker.random() < 0.5) continue;
    const value = name in maker.given ? maker.given[name] : madeOf(maker, one);
    if (value !== undefined) made[name] = value;
  }
  return made;
}

/** A value that the definition takes, in its canonical form. */
export function madeOf(maker: EntityMaker, schema: TSchema): unknown {
  const alternatives = schema["anyOf"] as readonly TSchema[] | undefined;
  if (alternatives !== undefined) return madeOf(maker, pick(maker, alternatives));
  if (schema["properties"] !== undefined) return objectOf(maker, schema);
  if (schema["type"] !== "array") return leafOf(maker, schema);
  const length = maker.isMaximal ? 3 : Math.floor(maker.random() * 3);
  return Array.from({ length }, () => madeOf(maker, schema["items"]));
}

/** The same value with null for every field of the definition that it leaves out, as many serializers write it. */
export function withNulls(schema: TSchema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const list = (schema["anyOf"] as readonly TSchema[] | undefined)?.find(({ type }) => type === "array");
    return value.map((one) => withNulls((list ?? schema)["items"], one));
  }
  const properties = schema["properties"] as Readonly<Record<string, TSchema>> | undefined;
  if (properties === undefined || typeof value !== "object" || value === null) return value;
  const fields = value as Readonly<Record<string, unknown>>;
  const all = Object.entries(properties).map(([name, one]) => [
    name,
    name in fields ? withNulls(one, fields[name]) : null,
  ]);
  return { ...fields, ...Object.fromEntries(all) };
}
