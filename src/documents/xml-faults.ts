/** What the parser and the XSD check say, in words that name the element, the fault and what was expected. */
import type { ErrorDetail } from "libxml2-wasm";
import type { Fault } from "../lib/errors.ts";
import { valueKinds } from "./value-kinds.ts";
import { wordsForParseMessage } from "./parse-messages.ts";

const maxShownLength = 60;

function shown(value: string): string {
  const line = value.replace(/\s+/g, " ").trim();
  return line.length > maxShownLength ? `${line.slice(0, maxShownLength)}...` : line;
}

/** What each pattern of the XSD means, by the pattern as the check quotes it. */
const meaningsOfPatterns = new Map<string, string>();
for (const kind of Object.values(valueKinds)) {
  if (!("restriction" in kind)) continue;
  for (const facet of kind.restriction.facets) {
    const pattern = /^<xs:pattern value="(.*)"\/>$/.exec(facet)?.[1];
    if (pattern !== undefined) meaningsOfPatterns.set(pattern, kind.expected);
  }
}

type Rewrite = (...parts: string[]) => string;

const requiredNames = new Set(["Function", "StopNbr", "Stop"]);

function expectedNames(list: string): string {
  const names = list.split(",").map((name) => name.trim());
  const required = names.filter((name) => requiredNames.has(name));
  return (required.length > 0 ? required : names).join(", ");
}

function enumerated(set: string): string {
  const values = set.split(",").map((value) => value.trim().replace(/^'|'$/g, ""));
  return values.filter((value) => value !== "").join(", ");
}

const unexpectedWords =
  "found an element that is unknown here or stands twice; expected each element of the XSD at most once [content]";

/** Each form of message, and what is said instead. The rule's name stands in brackets. */
const rewrites: readonly (readonly [RegExp, Rewrite])[] = [
  [
    /^\[facet 'pattern'\] The value '(.*)' is not accepted by the pattern '(.*)'\.$/s,
    (value = "", pattern = "") =>
      `found '${shown(value)}', expected ${meaningsOfPatterns.get(pattern) ?? `a value of the form ${pattern}`} [pattern]`,
  ],
  [
    /^\[facet 'enumeration'\] The value '(.*)' is not an element of the set \{(.*)\}\.$/s,
    (value = "", set = "") => `found '${shown(value)}', expected one of ${enumerated(set)} [enumeration]`,
  ],
  [
    /^\[facet 'maxLength'\] The value has a length of '(\d+)'; .*maximum length of '(\d+)'\.$/,
    (length = "", maximum = "") => `found ${length} characters, expected at most ${maximum} [maxLength]`,
  ],
  [
    /^\[facet 'minLength'\] The value has a length of '(\d+)'; .*minimum length of '(\d+)'\.$/,
    (length = "", minimum = "") => `found ${length} characters, expected at least ${minimum} [minLength]`,
  ],
  [
    /^'(.*)' is not a valid value of the (?:local )?atomic type '(.*)'\.$/s,
    (value = "", type = "") => `found '${shown(value)}', expected a value of type ${type} [type]`,
  ],
  [
    /^Missing child element\(s\)\. Expected is (?:one of )?\( (.*) \)\.$/,
    (list = "") =>
      `found no ${expectedNames(list).replaceAll(", ", " and no ")}, which is required [content]`,
  ],
  [
    /^This element is not expected\. Expected is (?:one of )?\( (.*) \)\.$/,
    (list = "") => `found this element where it is not expected; expected ${expectedNames(list)} [content]`,
  ],
  [/^This element is not expected\.$/, () => unexpectedWords],
  [
    /^No matching global declaration available for the validation root\.$/,
    () => "found this root element, expected Stop or Stops without a namespace [root]",
  ],
  [
    /^Character content other than whitespace is not allowed/,
    () => "found text between the elements, expected elements only [content]",
  ],
  [/^Element content is not allowed/, () => "found elements inside, expected text only [content]"],
  [
    /^The attribute '(.*)' is not allowed\.$/,
    (name = "") => `found the attribute ${shown(name)}, which is not allowed [attribute]`,
  ],
];

function rewritten(rest: string): string {
  for (const [form, rewrite] of rewrites) {
    const match = form.exec(rest);
    if (match !== null) return rewrite(...match.slice(1));
  }
  return rest.length > 300 ? `${rest.slice(0, 300)}...` : rest;
}

const schemaMessage = /^Element '([^']*)'(?:, attribute '([^']*)')?: (.*)$/s;

/** The fault of one finding of the XSD check. */
export function faultOfSchemaError(detail: ErrorDetail): Fault {
  const match = schemaMessage.exec(detail.message.trim());
  const element = match?.[1] ?? "Document";
  const subject = match?.[2] === undefined ? element : `${element}/@${match[2]}`;
  return {
    code: "xsdMismatch",
    message: `${shown(subject)}: ${rewritten(match?.[3] ?? detail.message.trim())}.`.replace(/\.\.$/, "."),
    line: detail.line,
    ...(detail.xpath === undefined ? {} : { path: detail.xpath }),
  };
}

/** Whether a finding is a child that does not belong where it stands. Behind it, libxml2 does not look any further. */
export function isUnexpectedChild(detail: ErrorDetail): boolean {
  return schemaMessage.exec(detail.message.trim())?.[3]?.startsWith("This element is not expected.") === true;
}

/** The fault of such a child; `repeated` is the one element that its parent may hold, when that holds a list. */
export function faultOfUnexpectedChild(name: string, repeated: string | undefined): Fault {
  const words =
    repeated === undefined
      ? unexpectedWords
      : `found this element where it is not expected; expected ${repeated} [content]`;
  return { code: "xsdMismatch", message: `${shown(name)}: ${words}.` };
}

const limitMessage = /^Excessive depth|Resource limit exceeded|too long|too big|huge/i;

/** Whether the parser gave up because of one of its own limits and not because the document is wrong. */
export function isLimitError(detail: ErrorDetail): boolean {
  return limitMessage.test(detail.message);
}

/** The fault of a document that is not well-formed, from the parser's first complaint about `text`. */
export function faultOfParseError(detail: ErrorDetail, text: string): Fault {
  const { line, col: column } = detail;
  const message = detail.message.trim();
  const words = wordsForParseMessage(message, text) ?? `${shown(message)}. Correct it`;
  return {
    code: "notWellFormed",
    message: `The document is not well-formed XML: ${words} at line ${line}, column ${column}.`,
    line,
    column,
  };
}
