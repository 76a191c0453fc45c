/**
 * The forms in which serializers write one and the same value, turned into one before the check: `null` for a field that is
 * left out, an empty text for a date, zone or number that is left out, parts of dates without leading zeros, blanks around
 * numbers and codes. What to do stands in the definition of each field (`fields.ts`).
 *
 *   Jackson          "timeTo": null, "timeFrom": [2026, 11, 5, 8, 0]
 *   .NET             "timeTo": "0001-01-01T00:00:00", which is a date that was never set
 *   PHP              "contact": [] for an object without members, "stopDetails": {} for a list without entries
 *
 * What cannot be read stays as it is, so that the check names it.
 */
import type { TSchema } from "@sinclair/typebox";
import { alternativesOf, type FieldForm, fieldForm } from "./fields.ts";
import { type Fields, isFields } from "./fields-of-json.ts";
import {
  normaliseDate,
  normaliseDateOrDateTime,
  normaliseLocalDateTime,
  normaliseTimeOfDay,
} from "../time/local-time.ts";

/** The canonical value; undefined for one that stands for none. */
type Rule = (value: unknown) => unknown;

interface FieldPlan {
  readonly rule: Rule;
  /** Whether null is a value of the field, which is returned. */
  readonly keepsNull: boolean;
}

/** What .NET writes for a `DateTime` that was never set. */
const neverSet = /^0001-01-01T00:00:00(\.0+)?(Z|\+00:00)?$/;

const two = (part: unknown) => String(part).padStart(2, "0");

function areParts(value: unknown, least: number, most: number): value is readonly number[] {
  if (!Array.isArray(value) || value.length < least || value.length > most) return false;
  return value.every((part) => Number.isInteger(part) && part >= 0);
}

/** `[2026, 11, 5]`, or with hour, minute, second and nanosecond; anything else stays as it is. */
function dateOfParts(value: unknown): unknown {
  if (!areParts(value, 3, 7) || value.length === 4) return value;
  const [year, month, day, hour, minute, second = 0] = value;
  const date = `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}`;
  return hour === undefined ? date : `${date}T${two(hour)}:${two(minute)}:${two(second)}`;
}

function timeOfParts(value: unknown): unknown {
  if (!areParts(value, 2, 4)) return value;
  const [hour, minute, second = 0] = value;
  return [hour, minute, second].map(two).join(":");
}

function dateRule(normalise: (text: string) => string | undefined): Rule {
  return (value) => {
    const read = typeof value === "object" ? dateOfParts(value) : value;
    if (typeof read !== "string") return read;
    const text = read.trim();
    if (text === "" || neverSet.test(text)) return undefined;
    return normalise(text) ?? text;
  };
}

/** Empty, or nothing but blanks. */
function isBlank(value: unknown): boolean {
  return typeof value === "string" && value.trim() === "";
}

function trimmed(value: unknown): unknown {
  return typeof value === "string" ? value.trim() : value;
}

function beginningOfDay(text: string): string | undefined {
  const date = normaliseDate(text);
  return date === undefined ? normaliseLocalDateTime(text) : `${date}T00:00:00`;
}

const rules: Readonly<Record<FieldForm, Rule>> = {
  identifier: trimmed,
  number: (value) => (isBlank(value) ? undefined : value),
  zone: (value) => (isBlank(value) ? undefined : trimmed(value)),
  date: dateRule(normaliseDateOrDateTime),
  dateTime: dateRule(normaliseLocalDateTime),
  dayTime: dateRule(beginningOfDay),
  time: (value) => {
    const read = typeof value === "object" ? timeOfParts(value) : value;
    if (typeof read !== "string") return read;
    return isBlank(read) ? undefined : (normaliseTimeOfDay(read.trim()) ?? read);
  },
};

const unchanged: Rule = (value) => value;

/** A field that the definition does not name stays as it is, when it is there. */
const unknownField: FieldPlan = { rule: unchanged, keepsNull: false };

function planOf(schema: TSchema): FieldPlan {
  const keepsNull = alternativesOf(schema).some(({ type }) => type === "null");
  return { rule: ruleOf(schema), keepsNull };
}

function objectRule(properties: Readonly<Record<string, TSchema>>): Rule {
  const plans = new Map(Object.entries(properties).map(([name, schema]) => [name, planOf(schema)]));
  return (value) => {
    // What PHP writes for an object without members.
    if (Array.isArray(value) && value.length === 0) return {};
    if (!isFields(value)) return value;
    let changed: Fields | undefined;
    for (const name of Object.keys(value)) {
      const { rule, keepsNull } = plans.get(name) ?? unknownField;
      const before = value[name];
      const after = before === null ? (keepsNull ? null : undefined) : rule(before);
      if (after === before) continue;
      changed ??= { ...value };
      if (after === undefined) delete changed[name];
      else changed[name] = after;
    }
    return changed ?? value;
  };
}

function listRule(items: TSchema): Rule {
  const rule = ruleOf(items);
  return (value) => {
    if (!Array.isArray(value)) return isFields(value) && Object.keys(value).length === 0 ? [] : value;
    if (rule === unchanged) return value;
    let changed: unknown[] | undefined;
    for (const [index, before] of value.entries()) {
      const after = rule(before);
      if (after === before || after === undefined) continue;
      changed ??= [...value];
      changed[index] = after;
    }
    return changed ?? value;
  };
}

function ruleOf(schema: TSchema): Rule {
  const form = (schema as { readonly [fieldForm]?: FieldForm })[fieldForm];
  if (form !== undefined) return rules[form];
  const properties = schema["properties"] as Readonly<Record<string, TSchema>> | undefined;
  if (properties !== undefined) return objectRule(properties);
  if (schema["type"] === "array") return listRule(schema["items"] as TSchema);
  const known = alternativesOf(schema).filter((one) => one !== schema);
  return known.map(ruleOf).find((rule) => rule !== unchanged) ?? unchanged;
}

/**
 * Makes a function that brings what came for a definition into its canonical form. It answers a new object where something
 * changes and the very same one where nothing does. Fields that the definition does not name are left alone, but for those
 * that are null.
 */
export function createCanonicalForm(schema: TSchema): (value: unknown) => unknown {
  return ruleOf(schema);
}
