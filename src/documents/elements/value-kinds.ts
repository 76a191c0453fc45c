/**
 * The kinds of value that stop XML carries. Each kind stands once: its XSD type, how its text is read into a canonical
 * value, and the words a fault uses for what was expected.
 *
 * An empty element is absent for every typed kind, and an empty string for text.
 */
import { identifierForm, isIdentifier } from "../../domain/fields/identifier-text.ts";
import {
  isTimeZone,
  normaliseDateOrDateTime,
  normaliseLocalDateTime,
  readInstant,
} from "../../domain/time/local-time.ts";
import type { ErrorCode } from "../../lib/errors.ts";

export type ScalarValue = string | number | boolean;

/** What `read` answers for a text that the XSD lets through and the kind does not (29 February, unknown zones). */
export const unreadable = Symbol("unreadable");

export interface ValueKind {
  /** Name of the simple type in the XSD; text kinds append their maximum length. */
  readonly typeName: string;
  /** The expected form, as a fault names it. */
  readonly expected: string;
  /** The code of a value that only `read` finds wrong. */
  readonly faultCode: ErrorCode;
  /** The facets of the XSD type; undefined for text, whose only facet is its length. */
  readonly restriction?: { readonly base: string; readonly facets: readonly string[] };
  /** The canonical value of an element's text; undefined when it is absent. */
  read(text: string): ScalarValue | undefined | typeof unreadable;
}

const hasOuterSpace = /^[ \t\n\r]|[ \t\n\r]$|[ \t\n\r]{2}|[\t\n\r]/;

/** White space as XML Schema's `collapse` leaves it. */
function collapsed(text: string): string {
  return hasOuterSpace.test(text) ? text.replace(/[ \t\n\r]+/g, " ").replace(/^ | $/g, "") : text;
}

/** A facet of an XSD type. */
export function pattern(value: string): string {
  return `<xs:pattern value="${value}"/>`;
}

/** The facets of an XSD type that has these values. */
export function enumeration(values: readonly string[]): string[] {
  return values.map((value) => `<xs:enumeration value="${value}"/>`);
}

/** Reads with a function that answers undefined for what it cannot read; an empty text is absent. */
function readWith(parse: (text: string) => ScalarValue | undefined) {
  return (text: string) => {
    const value = collapsed(text);
    return value === "" ? undefined : (parse(value) ?? unreadable);
  };
}

const numberForm = /^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)$/;
const maxNumberLength = 40;

function isNumberText(value: string): boolean {
  return value.length <= maxNumberLength && numberForm.test(value);
}

const numberRestriction = {
  base: "xs:token",
  facets: [`<xs:maxLength value="${maxNumberLength}"/>`, pattern("([+\\-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+))?")],
};
function isBase64(value: string): boolean {
  return value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value);
}

const datePattern = "[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}";
const timePattern = "T[0-9]{1,2}:[0-9]{1,2}(:[0-9]{1,2}(\\.[0-9]{1,9})?)?(Z|[+\\-][0-9]{2}(:?[0-9]{2})?)?";

const trueWords = ["true", "1", "Y", "y", "TRUE", "True"];
const falseWords = ["false", "0", "N", "n", "FALSE", "False"];
const booleans = new Map([
  ...trueWords.map((word) => [word, true] as const),
  ...falseWords.map((word) => [word, false] as const),
]);
const stopTypes = new Map([
  ["01", "PU"],
  ["PU", "PU"],
  ["02", "DO"],
  ["DO", "DO"],
]);

const dateOrDateTime = {
  typeName: "DateOrDateTime",
  expected: "a real date such as 2026-11-05",
  faultCode: "badDate",
  restriction: { base: "xs:token", facets: [pattern(`(${datePattern}(${timePattern})?)?`)] },
} as const;

export const valueKinds = {
  text: {
    typeName: "Text",
    expected: "text",
    faultCode: "xsdMismatch",
    read: (text) => text,
  },
  identifier: {
    typeName: "Identifier",
    expected: `a number with ${identifierForm}`,
    // The same rule and the same reason as for numbers that come as JSON.
    faultCode: "wrongType",
    read: readWith((text) => (isIdentifier(text) ? text : undefined)),
  },
  functionCode: {
    typeName: "FunctionCode",
    expected: "01 (create or update), 02 (delete) or 03 (create or update and assign)",
    faultCode: "xsdMismatch",
    restriction: { base: "xs:token", facets: enumeration(["01", "02", "03"]) },
    read: readWith((text) => text),
  },
  stopType: {
    typeName: "StopType",
    expected: "01 or PU (pickup), 02 or DO (drop-off)",
    faultCode: "xsdMismatch",
    restriction: { base: "xs:token", facets: enumeration(["", ...stopTypes.keys()]) },
    read: readWith((text) => stopTypes.get(text)),
  },
  numberText: {
    typeName: "NumberText",
    expected: "a number such as 12 or 1.50",
    faultCode: "xsdMismatch",
    restriction: numberRestriction,
    read: readWith((text) => text),
  },
  number: {
    typeName: "DecimalNumber",
    expected: "a number such as 12 or 1.50",
    faultCode: "xsdMismatch",
    restriction: numberRestriction,
    // What the XSD refuses is no number either: it is told once, and nothing is made of it.
    read: readWith((text) => (isNumberText(text) ? Number(text) : undefined)),
  },
  boolean: {
    typeName: "YesNo",
    expected: "true, false, 1, 0, Y or N",
    faultCode: "xsdMismatch",
    restriction: { base: "xs:token", facets: enumeration(["", ...booleans.keys()]) },
    read: readWith((text) => booleans.get(text)),
  },
  dateTime: {
    typeName: "LocalDateTime",
    expected: "a real local date-time such as 2026-11-05T08:00:00",
    faultCode: "badDate",
    restriction: { base: "xs:token", facets: [pattern(`(${datePattern}${timePattern})?`)] },
    // An instant stays as it is until the zone beside it is known (`stop-meaning.ts`).
    read: readWith(
      (text) => normaliseLocalDateTime(text) ?? (readInstant(text) === undefined ? undefined : text),
    ),
  },
  date: { ...dateOrDateTime, read: readWith(normaliseDateOrDateTime) },
  timeZone: {
    typeName: "TimeZone",
    expected: "an IANA time zone such as America/New_York, or EST, CET, UTC",
    faultCode: "badDate",
    restriction: { base: "xs:token", facets: ['<xs:maxLength value="64"/>'] },
    read: readWith((text) => (isTimeZone(text) ? text : undefined)),
  },
  base64: {
    typeName: "Base64",
    expected: "base64",
    faultCode: "xsdMismatch",
    restriction: { base: "xs:base64Binary", facets: [] },
    // The XSD check passes over characters that are not base64, so the rule is kept here.
    read: (text) => {
      const value = text.replace(/[ \t\n\r]+/g, "");
      return isBase64(value) ? value : unreadable;
    },
  },
} as const satisfies Record<string, ValueKind>;

export type ValueKindName = keyof typeof valueKinds;

/** The kind of this name. */
export function valueKindOf(name: ValueKindName): ValueKind {
  return valueKinds[name];
}
