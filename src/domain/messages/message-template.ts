/**
 * Templates of customer messages: text with `{{names}}` of a fixed list. There is nothing else in the language: no
 * conditions, no loops, nothing that could fail when a message is made.
 */

/** A piece of text, or the name of what stands there. */
type Part = { readonly text: string } | { readonly name: string };

export type TemplateReading =
  | { readonly kind: "read"; readonly parts: readonly Part[]; readonly names: ReadonlySet<string> }
  | { readonly kind: "faulty"; readonly fault: string };

const placeholder = /\{\{([^{}]*)\}\}/g;

function faulty(fault: string): TemplateReading {
  return { kind: "faulty", fault };
}

/** Where in a text of several lines, for who reads it. */
function placeIn(text: string, offset: number): string {
  const line = text.slice(0, offset).split("\n").length;
  return text.includes("\n") ? ` (line ${line} of the text)` : "";
}

function faultOfName(name: string, known: ReadonlySet<string>, place: string): string | undefined {
  if (known.has(name)) return undefined;
  return `there is no {{${name}}}${place}; there is ${[...known].map((one) => `{{${one}}}`).join(", ")}`;
}

/** Reads a template. Braces that belong to no placeholder and names that are not known are faults. */
export function readTemplate(text: string, known: ReadonlySet<string>): TemplateReading {
  const parts: Part[] = [];
  const names = new Set<string>();
  let end = 0;
  for (const match of text.matchAll(placeholder)) {
    // Other languages of templates write values without escaping so.
    if (text[match.index - 1] === "{") return faulty(`has {{{${placeIn(text, match.index)}; write {{name}}`);
    const name = (match[1] ?? "").trim();
    const fault = faultOfName(name, known, placeIn(text, match.index));
    if (fault !== undefined) return faulty(fault);
    parts.push({ text: text.slice(end, match.index) }, { name });
    names.add(name);
    end = match.index + match[0].length;
  }
  parts.push({ text: text.slice(end) });
  for (const part of parts) {
    if (!("text" in part) || !/\{\{/.test(part.text)) continue;
    return faulty(`has {{ that no }} closes${placeIn(text, text.indexOf(part.text))}; write {{name}}`);
  }
  return { kind: "read", parts, names };
}

/** Makes a value fit for the place where it is put. */
export type EscapeValue = (value: string) => string;

/** The text with the values in it; what has no value is left empty. Throws for a template that is faulty. */
export function fillTemplate(
  text: string,
  values: ReadonlyMap<string, string>,
  escapeValue: EscapeValue = (value) => value,
): string {
  const reading = readTemplate(text, new Set(values.keys()));
  if (reading.kind === "faulty") throw new Error(`a template ${reading.fault}`);
  return reading.parts
    .map((part) => ("text" in part ? part.text : escapeValue(values.get(part.name) ?? "")))
    .join("");
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "`": "&#96;",
};

/** For text and attribute values (in quotes) of HTML. */
export function escapeHtml(value: string): string {
  return value.replaceAll(/[&<>"'`]/g, (found) => entities[found] ?? "");
}

/** For a JSON string whose quotes stand in the template. */
export function escapeJson(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

/** For a part of an address or of a form; half a character, which no address can name, is replaced. */
export function escapeUrl(value: string): string {
  return encodeURIComponent(value.toWellFormed());
}

/**
 * On one line: line breaks, control characters and marks that turn the direction of writing become blanks, so that what a
 * host has sent ends no header field and disguises nothing.
 */
export function oneLine(value: string): string {
  return value
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, " ")
    .trim();
}

/** At most so many UTF-16 units, cut between characters as people see them, with … at the end when it was cut. */
export function shortened(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  let kept = "";
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text)) {
    if (kept.length + segment.length > maxLength - 1) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}
