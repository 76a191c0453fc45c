/** Builders for the fields of entities: one definition of a field gives its type, its check and its maximum length. */
import {
  FormatRegistry,
  Kind,
  type TNumber,
  type TString,
  type TUnsafe,
  Type,
  TypeRegistry,
} from "@sinclair/typebox";
import { maxLengthOf } from "./field-limits.ts";
import { identifierPattern } from "./identifier-text.ts";
import { isDateOrDateTime, isLocalDateTime, isTimeZone } from "./local-time.ts";

FormatRegistry.Set("local-date-time", isLocalDateTime);
FormatRegistry.Set("date-or-date-time", isDateOrDateTime);
FormatRegistry.Set("time-zone", isTimeZone);
FormatRegistry.Set("time-of-day", (text) => /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/.test(text));
FormatRegistry.Set("numeric-text", (text) => /^[+-]?(\d+(\.\d*)?|\.\d+)$/.test(text.trim()));

/** A string with the maximum length that the field of this name has everywhere. */
export function text(field: string): TString {
  return Type.String({ maxLength: maxLengthOf(field) });
}

/** Fields by which something is found again. Others may have any characters: `N/A` is a reason. */
const lookedUp = new Set(["stopNbr", "loadNbr", "orderNbr", "routeNbr", "accountNumber", "carrierCode"]);

/** A string that must be there and must not be empty; that of a number by which something is found has a form. */
export function identifier(field: string): TString {
  const length = { minLength: 1, maxLength: maxLengthOf(field) };
  return Type.String(lookedUp.has(field) ? { ...length, pattern: identifierPattern } : length);
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

/** A string for which hosts also send null. */
export function textOrNull(field: string) {
  return Type.Union([text(field), Type.Null()]);
}

/** A latitude or longitude: a number, or an empty string or null when it is absent. */
export function coordinate(limit: number) {
  return Type.Union([Type.Number({ minimum: -limit, maximum: limit }), Type.Literal(""), Type.Null()]);
}

/** `YYYY-MM-DDThh:mm:ss`, local, padded. */
export function localDateTime(): TString {
  return Type.String({ format: "local-date-time" });
}

/** `YYYY-MM-DD`, or a full date-time with or without `Z`. */
export function dateOrDateTime(): TString {
  return Type.String({ format: "date-or-date-time" });
}

/** An IANA zone name or one of the listed abbreviations. */
export function timeZone(): TString {
  return Type.String({ format: "time-zone" });
}

/** `hh:mm:ss`. */
export function timeOfDay(): TString {
  return Type.String({ format: "time-of-day" });
}

/** Digits with an optional sign and decimal point, as text. */
export function numericText(): TString {
  return Type.String({ format: "numeric-text" });
}
