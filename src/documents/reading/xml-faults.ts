/** Messages of the parser and the XSD check, rewritten to name the element, the fault and the expected form. */
import type { ErrorDetail } from "libxml2-wasm";
import type { Fault } from "../../lib/errors.ts";
import type { ContentModel } from "../elements/content-model.ts";
import { valueKinds } from "../elements/value-kinds.ts";
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

const meaningsOfTypes = new Map<string, string>([["xs:boolean", "true or false"]]);
for (const { typeName, expected } of Object.values(valueKinds)) meaningsOfTypes.set(typeName, expected);

function meaningOfType(type: string): string {
  return meaningsOfTypes.get(type) ?? `a value of type ${type}`;
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
  "found an element that is unknown here or stands twice; expected each element of the XSD at most once";

/** The schema's own attributes in the namespace that the parser writes as a prefix of the name. */
const instanceNamespace = "{http://www.w3.org/2001/XMLSchema-instance}";

/** The forms of these messages, and the text for each. */
const rewrites: readonly (readonly [RegExp, Rewrite])[] = [
  [
    /^\[facet 'pattern'\] The value '(.*)' is not accepted by the pattern '(.*)'\.$/s,
    (value = "", pattern = "") =>
      `found '${shown(value)}', expected ${meaningsOfPatterns.get(pattern) ?? `a value of the form ${pattern}`}`,
  ],
  [
    /^\[facet 'enumeration'\] The value '(.*)' is not an element of the set \{(.*)\}\.$/s,
    (value = "", set = "") => `found '${shown(value)}', expected one of ${enumerated(set)}`,
  ],
  [
    /^\[facet 'maxLength'\] The value has a length of '(\d+)'; .*maximum length of '(\d+)'\.$/,
    (length = "", maximum = "") => `found ${length} characters, expected at most ${maximum}`,
  ],
  [
    /^\[facet 'minLength'\] The value has a length of '(\d+)'; .*minimum length of '(\d+)'\.$/,
    (length = "", minimum = "") => `found ${length} characters, expected at least ${minimum}`,
  ],
  [
    /^'(.*)' is not a valid value of the (?:local )?atomic type '(.*)'\.$/s,
    (value = "", type = "") => `found '${shown(value)}', expected ${meaningOfType(type)}`,
  ],
  [
    /^Missing child element\(s\)\. Expected is (?:one of )?\( (.*) \)\.$/,
    (list = "") => `found no ${expectedNames(list).replaceAll(", ", " and no ")}, which is required`,
  ],
  [
    /^This element is not expected\. Expected is (?:one of )?\( (.*) \)\.$/,
    (list = "") => `found this element where it is not expected; expected ${expectedNames(list)}`,
  ],
  [/^This element is not expected\.$/, () => unexpectedWords],
  [
    /^No matching global declaration available for the validation root\.$/,
    () => "found this root element, expected Stop or Stops, written so and without a namespace",
  ],
  [
    /^Character content other than whitespace is not allowed/,
    () => "found text between the elements, expected elements only",
  ],
  [/^Element content is not allowed/, () => "found elements inside, expected text only"],
  [
    /^The attribute '(.*)' is not allowed\.$/,
    (name = "") =>
      `found the attribute ${shown(name.replace(instanceNamespace, "xsi:"))}, which is not allowed; expected the element without it`,
  ],
  [
    /^The element is not 'nillable'\.$/,
    () => 'found xsi:nil="true" on an element that is required; expected its value',
  ],
  [
    /(?:cannot have|content is not allowed,? because the element is) ?.*'nilled'|is 'nilled'/,
    () => 'found content in an element with xsi:nil="true"; expected either the content or xsi:nil',
  ],
];

/** Serializers write it for types that do not exist here; the validator's own message is of no use to a host. */
const typeAttribute = "xsi:type";

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
  const attribute = match?.[2]?.replace(instanceNamespace, "xsi:");
  const words =
    attribute === typeAttribute
      ? "found the attribute xsi:type, which is not allowed; expected the element without it"
      : rewritten(match?.[3] ?? detail.message.trim());
  const subject = attribute === undefined ? element : `${element}/@${attribute}`;
  return {
    code: "xsdMismatch",
    message: `${shown(subject)}: ${words}.`.replace(/\.\.$/, "."),
    line: detail.line,
    ...(detail.xpath === undefined ? {} : { path: detail.xpath }),
  };
}

/** What a finding says of the element itself; nothing when it is about an attribute. */
function wordsOfElement({ message }: ErrorDetail): string {
  const [, , attribute, words = ""] = schemaMessage.exec(message.trim()) ?? [];
  return attribute === undefined ? words : "";
}

/** Whether a finding is a child that does not belong where it stands. libxml2 does not check what comes behind it. */
export function isUnexpectedChild(detail: ErrorDetail): boolean {
  return wordsOfElement(detail).startsWith("This element is not expected.");
}

/** Whether a finding is text where only elements belong. It stands somewhere within the element that is named. */
export function isStrayText(detail: ErrorDetail): boolean {
  return wordsOfElement(detail).startsWith("Character content other than whitespace is not allowed");
}

/** The findings without those that follow from another: an element that must not be nil is found to have no value, too. */
export function withoutConsequences(details: readonly ErrorDetail[]): readonly ErrorDetail[] {
  const isNil = (detail: ErrorDetail) => wordsOfElement(detail) === "The element is not 'nillable'.";
  const nilPaths = new Set(details.filter(isNil).map(({ xpath }) => xpath));
  const isOfValue = (detail: ErrorDetail) =>
    /^\[facet |^'.*' is not a valid value/s.test(wordsOfElement(detail));
  return details.filter((detail) => !nilPaths.has(detail.xpath) || !isOfValue(detail));
}

/** What is wrong with a child that does not belong where it stands, in an element that may hold those of `model`. */
function unexpectedWordsFor(name: string, { names, repeated }: ContentModel): string {
  if (names.has(name))
    return repeated === undefined
      ? "found this element a second time; expected it at most once"
      : `found this element where it is not expected; expected ${repeated}`;
  const meant = [...names].find((known) => known.toLowerCase() === name.toLowerCase());
  if (meant !== undefined)
    return `found an element that is unknown here; write ${meant}: upper and lower case count`;
  if (repeated !== undefined) return `found this element where it is not expected; expected ${repeated}`;
  return "found an element that is unknown here; leave it out, or write the name that the XSD has for it";
}

/** The fault of such a child. */
export function faultOfUnexpectedChild(name: string, model: ContentModel): Fault {
  return { code: "xsdMismatch", message: `${shown(name)}: ${unexpectedWordsFor(name, model)}.` };
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
