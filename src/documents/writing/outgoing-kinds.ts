/**
 * The kinds of value in documents that go out (completions, exports, manifests). They are narrower than those that stop
 * documents are read by: one spelling for each value, and no empty elements, so that hosts can give them real types.
 *
 * What a type says, the writer keeps, whatever is in the store: a value that the type has no form for is left out.
 */
import { isLocalDateTime, normaliseDateOrDateTime } from "../../domain/time/local-time.ts";
import { stopStatusNames } from "../../domain/stop/stop-status.ts";
import { enumeration, pattern, type ScalarValue, type ValueKindName } from "../elements/value-kinds.ts";

export type OutgoingKindName =
  | ValueKindName
  | "stopStatus"
  | "eventCode"
  | "count"
  | "sha256"
  | "utcDateTime";

/** A kind whose text has none of the characters that XML escapes. */
export interface PlainKind {
  readonly typeName: string;
  readonly about: string;
  readonly base: string;
  readonly facets: readonly string[];
  /** Undefined when the type has no form for the value. */
  readonly write: (value: ScalarValue) => string | undefined;
}

/** Kinds whose type has nothing but the maximum length of its field. */
export type TextKindName = "text" | "identifier";

type PlainKindName = Exclude<OutgoingKindName, TextKindName | "functionCode">;

/** As many digits as the readers of XML in use take. */
const maxDigits = 24;
const maxDecimalLength = 40;
const decimalForm = /^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)$/;

/** A number without an exponent, which a decimal has not. */
function plainNumber(value: number): string {
  const text = String(value);
  if (!text.includes("e")) return text;
  if (Math.abs(value) >= 1) return Number.isFinite(value) ? BigInt(value).toString() : text;
  return value.toFixed(20).replace(/\.?0+$/, "");
}

function writeDecimal(value: ScalarValue): string | undefined {
  const text = typeof value === "number" ? plainNumber(value) : String(value).trim();
  if (text.length > maxDecimalLength || !decimalForm.test(text)) return undefined;
  const digits = text.replace(/^[+-]?0*/, "").replace(".", "");
  return digits.length <= maxDigits ? text : undefined;
}

const decimal: PlainKind = {
  typeName: "DecimalNumber",
  about: `A number such as 12 or 1.50, at most ${maxDigits} digits, as it was sent.`,
  base: "xs:decimal",
  facets: [`<xs:totalDigits value="${maxDigits}"/>`],
  write: writeDecimal,
};

function writeBoolean(value: ScalarValue): string | undefined {
  if (value === true || value === 1) return "true";
  return value === false || value === 0 ? "false" : undefined;
}

const stopTypes = new Map([
  ["01", "PU"],
  ["PU", "PU"],
  ["02", "DO"],
  ["DO", "DO"],
]);

/** Writes what the type has a form for. */
function writeIf(isSayable: (text: string) => boolean) {
  return (value: ScalarValue) => (isSayable(String(value)) ? String(value) : undefined);
}

/** Date-times of XML Schema have no year 0. */
function hasYear(text: string): boolean {
  return !text.startsWith("0000");
}

const localDateTime = "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}";
const utcForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const realDate = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])";
const realTime =
  "T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?(Z|[+\\-]([01][0-9]|2[0-3])(:?[0-5][0-9])?)?";
const zoneForm = /^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/;

function isWhole(value: ScalarValue, least: number): boolean {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= least;
}

const dateOrDateTime: PlainKind = {
  typeName: "DateOrDateTime",
  about: "A date such as 2026-11-05, or a date-time as it was sent.",
  base: "xs:token",
  facets: [pattern(`${realDate}(${realTime})?`)],
  write: writeIf((text) => normaliseDateOrDateTime(text) === text),
};

const plainKinds: Readonly<Record<PlainKindName, PlainKind>> = {
  number: decimal,
  numberText: decimal,
  boolean: {
    typeName: "YesNo",
    about: "true or false.",
    base: "xs:boolean",
    facets: [pattern("true|false")],
    write: writeBoolean,
  },
  stopType: {
    typeName: "StopType",
    about: "PU (pickup) or DO (drop-off).",
    base: "xs:token",
    facets: enumeration(["PU", "DO"]),
    write: (value) => stopTypes.get(String(value).trim().toUpperCase()),
  },
  dateTime: {
    typeName: "LocalDateTime",
    about: "A local date-time such as 2026-11-05T08:00:00, never with an offset.",
    base: "xs:dateTime",
    facets: [pattern(localDateTime)],
    write: writeIf((text) => isLocalDateTime(text) && hasYear(text)),
  },
  utcDateTime: {
    typeName: "UtcDateTime",
    about: "A date-time in UTC such as 2026-11-05T08:00:00Z.",
    base: "xs:dateTime",
    facets: [pattern(`${localDateTime}Z`)],
    write: writeIf((text) => utcForm.test(text) && hasYear(text)),
  },
  date: dateOrDateTime,
  timeZone: {
    typeName: "TimeZone",
    about: "An IANA time zone such as America/New_York, or an abbreviation such as EST, CET or UTC.",
    base: "xs:token",
    facets: [pattern("[A-Za-z][A-Za-z0-9_+\\-/]{0,63}")],
    write: writeIf((text) => zoneForm.test(text)),
  },
  base64: {
    typeName: "Base64",
    about: "The bytes of a file in base64.",
    base: "xs:base64Binary",
    facets: [],
    write: String,
  },
  stopStatus: {
    typeName: "StopStatus",
    about: `${Object.entries(stopStatusNames)
      .map(([status, name]) => `${status} ${name}`)
      .join(", ")}.`,
    base: "xs:token",
    facets: enumeration(Object.keys(stopStatusNames)),
    write: writeIf((text) => Object.hasOwn(stopStatusNames, text)),
  },
  eventCode: {
    typeName: "EventCode",
    about: "Number of an event, such as 7009.",
    base: "xs:positiveInteger",
    facets: [],
    write: (value) => (isWhole(value, 1) ? String(value) : undefined),
  },
  count: {
    typeName: "Count",
    about: "A whole number from 0.",
    base: "xs:nonNegativeInteger",
    facets: [],
    write: (value) => (isWhole(value, 0) ? String(value) : undefined),
  },
  sha256: {
    typeName: "Sha256",
    about: "SHA-256 of a file's bytes, 64 hexadecimal digits in lower case.",
    base: "xs:token",
    facets: [pattern("[0-9a-f]{64}")],
    write: writeIf((text) => /^[0-9a-f]{64}$/.test(text)),
  },
};

export function isTextKind(name: OutgoingKindName): name is TextKindName {
  return name === "text" || name === "identifier";
}

/** The kind of this name, which is not one of text. */
export function plainKindOf(name: Exclude<OutgoingKindName, TextKindName>): PlainKind {
  if (name === "functionCode") throw new Error("an instruction is no part of a document that goes out");
  return plainKinds[name];
}
