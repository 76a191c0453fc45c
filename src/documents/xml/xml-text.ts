/** Text into XML: escapes and the characters that XML 1.0 cannot carry at all. */

const needsEscape = /[&<>"'\r\n\t]/;
const escaped: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
  "\r": "&#13;",
};
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that XML 1.0 forbids.
const forbidden = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF\p{Cs}]/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that XML 1.0 forbids.
const allForbidden = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g;
/** Without its other half such a character has no UTF-8 form. */
const halfPairs = /\p{Cs}/gu;

/** The text without the characters that XML 1.0 forbids, escaped or not; half surrogate pairs become U+FFFD. */
export function withoutForbiddenCharacters(text: string): string {
  return forbidden.test(text) ? text.replace(allForbidden, "").replace(halfPairs, "\uFFFD") : text;
}

/** The text with U+FFFD in place of each character that XML 1.0 forbids; half surrogate pairs are left as they are. */
export function withMarkedCharacters(text: string): string {
  return text.replace(allForbidden, "\uFFFD");
}

/**
 * The text as content of an element: the five characters (specification/stop-document.md#form) escaped, carriage
 * returns kept by a character reference (a parser would turn them into line feeds), forbidden characters left out.
 */
export function escapeXml(text: string): string {
  const clean = withoutForbiddenCharacters(text);
  return needsEscape.test(clean)
    ? clean.replace(/[&<>"'\r]/g, (character) => escaped[character] ?? "")
    : clean;
}

/** The text as value of an attribute in double quotes: line feeds and tabs survive only as character references. */
export function escapeXmlAttribute(text: string): string {
  const value = escapeXml(text);
  return needsEscape.test(value) ? value.replace(/\n/g, "&#10;").replace(/\t/g, "&#9;") : value;
}
