/** Builders for the fields of entities: one definition of a field gives its type, its check and its maximum length. */
import {
  FormatRegistry,
  Kind,
  type TNumber,
  type TOptional,
  type TSchema,
  type TString,
  type TUnsafe,
  Type,
  TypeRegistry,
} from "@sinclair/typebox";
import { maxLengthOf } from "./field-limits.ts";
import { identifierPattern } from "./identifier-text.ts";
import { isDateOrDateTime, isLocalDateTime, isTimeZone, readInstant } from "../time/local-time.ts";

FormatRegistry.Set("local-date-time", isLocalDateTime);
FormatRegistry.Set("local-or-instant", (text) => isLocalDateTime(text) || readInstant(text) !== undefined);
FormatRegistry.Set("date-or-date-time", isDateOrDateTime);
FormatRegistry.Set("time-zone", isTimeZone);
FormatRegistry.Set("time-of-day", (text) => /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/.test(text));
FormatRegistry.Set("numeric-text", (text) => /^[+-]?(\d+(\.\d*)?|\.\d+)$/.test(text.trim()));
FormatRegistry.Set("duration-text", (text) => /^\+?(\d+(\.\d*)?|\.\d+)$/.test(text.trim()));

/**
 * Where a definition says what `canonical-form.ts` does with a value; a symbol, so that it is not in the API document.
 */
export const fieldForm: unique symbol = Symbol("fieldForm");

/**
 * `identifier` loses blanks at its ends. Of the others an empty text is the same as none; `date`, `dateTime` and `time` are
 * padded besides.
 */
export type FieldForm = "identifier" | "number" | "zone" | "date" | "dateTime" | "dayTime" | "time";

/** The members of a union; a definition that is none is its only one. */
export function alternativesOf(schema: TSchema): readonly TSchema[] {
  const alternatives: unknown = schema["anyOf"];
  return Array.isArray(alternatives) ? (alternatives as readonly TSchema[]) : [schema];
}

const identifierForm = { [fieldForm]: "identifier" } as const;
const numberForm = { [fieldForm]: "number" } as const;

const boundedTextKind = "BoundedText";

/** How many characters a text has, which is what maxima count; a letter beyond the first plane is one. */
export function charactersIn(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

function isWithin(text: string, { minLength = 0, maxLength }: TextBounds): boolean {
  // A character takes one unit or two: most texts need not be counted.
  if (text.length < minLength || text.length > 2 * maxLength) return false;
  if (text.length <= maxLength && text.length >= 2 * minLength) return true;
  const characters = charactersIn(text);
  return characters >= minLength && characters <= maxLength;
}

interface TextBounds {
  readonly minLength?: number;
  readonly maxLength: number;
  readonly pattern?: string;
}

const patterns = new Map<string, RegExp>();

function hasForm(text: string, pattern: string): boolean {
  const known = patterns.get(pattern);
  if (known !== undefined) return known.test(text);
  const made = new RegExp(pattern, "u");
  patterns.set(pattern, made);
  return made.test(text);
}

TypeRegistry.Set<TextBounds>(
  boundedTextKind,
  (bounds, value) =>
    typeof value === "string" &&
    isWithin(value, bounds) &&
    (bounds.pattern === undefined || hasForm(value, bounds.pattern)),
);

/** A string within bounds, which count characters as the API document and the XSD do, not units of UTF-16. */
export function boundedText(bounds: TextBounds, form: object = {}): TUnsafe<string> {
  return Type.Unsafe<string>({ [Kind]: boundedTextKind, type: "string", ...bounds, ...form });
}

/** A string with the maximum length that the field of this name has everywhere. */
export function text(field: string, form: object = {}): TUnsafe<string> {
  return boundedText({ maxLength: maxLengthOf(field) }, form);
}

/** Fields by which something is found again. Others may have any characters: `N/A` is a reason. */
const lookedUp = new Set(["stopNbr", "loadNbr", "orderNbr", "routeNbr", "accountNumber", "carrierCode"]);

/** A string that must be there and must not be empty; that of a number by which something is found has a form. */
export function identifier(field: string): TUnsafe<string> {
  const length = { minLength: 1, maxLength: maxLengthOf(field) };
  return boundedText(
    lookedUp.has(field) ? { ...length, pattern: identifierPattern } : length,
    identifierForm,
  );
}

/** A code by which something is named elsewhere, as text; blanks at its ends are no part of it. */
export function code(field: string): TUnsafe<string> {
  return text(field, identifierForm);
}

const boundedNumberKind = "BoundedNumber";
/** The longest text of any number is some 25 characters: fields with more room need no count. */
const longestNumberText = 25;

/** How long a number is as text, without an exponent before the point. */
export function lengthOfNumber(value: number): number {
  return Math.abs(value) < 1e21 ? String(value).length : BigInt(Math.trunc(value)).toString().length;
}

/** Its name is one that the API document may have: JSON Schema knows no length of a number. */
const numberLength = "x-maxLength";

TypeRegistry.Set<Readonly<Record<typeof numberLength, number>>>(
  boundedNumberKind,
  ({ [numberLength]: maximum }, value) =>
    typeof value === "number" && Number.isFinite(value) && lengthOfNumber(value) <= maximum,
);

/** A number is held to the same length as its text, with sign and point. */
function boundedNumber(field: string): TNumber | TUnsafe<number> {
  const maximum = maxLengthOf(field);
  if (maximum > longestNumberText) return Type.Number();
  const range = { exclusiveMinimum: -(10 ** (maximum - 1)), exclusiveMaximum: 10 ** maximum };
  return Type.Unsafe<number>({
    [Kind]: boundedNumberKind,
    type: "number",
    ...range,
    [numberLength]: maximum,
  });
}

/** A field that hosts send as a string or as a number; given back as it came. */
export function textOrNumber(field: string) {
  return Type.Union([text(field), boundedNumber(field)]);
}

/** The same for what names something: blanks at the ends of a text are no part of it. */
export function reference(field: string) {
  return Type.Union([text(field), boundedNumber(field)], identifierForm);
}

/** A text that is a number below zero does not fit; any other text does. */
export const notNegativePattern = "^(?!\\s*-[\\d.]*[1-9])";

/** The same for a number that is asked for: what it may be is checked where it is read. */
export function amountAskedFor(field: string) {
  return Type.Union([text(field), Type.Number()], numberForm);
}

/** How much or how many, as a string or as a number; never less than nothing. An empty text is the same as none. */
export function amount(field: string) {
  const asText = boundedText({ maxLength: maxLengthOf(field), pattern: notNegativePattern });
  return Type.Union([asText, Type.Number({ minimum: 0 })], numberForm);
}

/** How much or how many, as a number; never less than nothing. */
export function count(): TNumber {
  return Type.Number({ minimum: 0, ...numberForm });
}

/** A number that counts nothing; an empty text is the same as none. */
export function number(): TNumber {
  return Type.Number(numberForm);
}

/** A string for which hosts also send null, which is given back. */
export function textOrNull(field: string) {
  return Type.Union([text(field), Type.Null()]);
}

/** A latitude or longitude: a number, or an empty string or null when it is absent. */
export function coordinate(limit: number) {
  return Type.Union([Type.Number({ minimum: -limit, maximum: limit }), Type.Literal(""), Type.Null()]);
}

/** `YYYY-MM-DDThh:mm:ss`, local, padded. */
export function localDateTime(): TString {
  return Type.String({ format: "local-date-time", [fieldForm]: "dateTime" });
}

/** The same; a date alone means its beginning. */
export function dayOrDateTime(): TString {
  return Type.String({ format: "local-date-time", [fieldForm]: "dayTime" });
}

/** The same, or an instant: whoever reads it knows the zone. */
export function localOrInstant(): TString {
  return Type.String({ format: "local-or-instant", [fieldForm]: "dateTime" });
}

/** `YYYY-MM-DD`, or a full date-time with or without `Z` or an offset. */
export function dateOrDateTime(): TString {
  return Type.String({ format: "date-or-date-time", [fieldForm]: "date" });
}

/** An IANA zone name or one of the listed abbreviations. */
export function timeZone(): TString {
  return Type.String({ format: "time-zone", [fieldForm]: "zone" });
}

/** `hh:mm:ss`. */
export function timeOfDay(): TString {
  return Type.String({ format: "time-of-day", [fieldForm]: "time" });
}

/** Digits with an optional decimal point, as text; never less than nothing. */
export function durationText(): TString {
  return Type.String({ format: "duration-text", ...numberForm });
}

/** Digits with an optional sign and decimal point, as text. */
export function numericText(): TString {
  return Type.String({ format: "numeric-text" });
}

/** Optional fields that one builder makes, each by its name: `addr1` is `Type.Optional(text("addr1"))`. */
export function optionals<Schema extends TSchema, Name extends string>(
  build: (field: string) => Schema,
  ...names: Name[]
): { [Field in Name]: TOptional<Schema> } {
  const fields = names.map((name): [Name, TSchema] => [name, Type.Optional(build(name))]);
  return Object.fromEntries(fields) as { [Field in Name]: TOptional<Schema> };
}
