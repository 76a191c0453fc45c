/** Builders for the fields of entities: one definition of a field gives its type, its check and its maximum length. */
import { FormatRegistry, type TNumber, type TString, Type } from "@sinclair/typebox";
import { maxLengthOf } from "./field-limits.ts";
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

/** A string that must be there and must not be empty. */
export function identifier(field: string): TString {
  return Type.String({ minLength: 1, maxLength: maxLengthOf(field) });
}

function boundedNumber(field: string): TNumber {
  const digits = maxLengthOf(field);
  // A number is held to the same length as its text; beyond 15 digits a double has no exact text to count.
  return digits > 15 ? Type.Number() : Type.Number({ exclusiveMaximum: 10 ** digits });
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
