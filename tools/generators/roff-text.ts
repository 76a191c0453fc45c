/** Text as roff, the language of manual pages, shows it. */

/** What has a meaning for roff, or what it would show as a typographic sign that no shell takes. */
const signs: Readonly<Record<string, string>> = {
  "\\": "\\e",
  "-": "\\-",
  "'": "\\(aq",
  '"': "\\(dq",
  "`": "\\(ga",
  "^": "\\(ha",
  "~": "\\(ti",
};

function escaped(sign: string): string {
  return signs[sign] ?? `\\[u${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}]`;
}

function literal(text: string): string {
  return text.replaceAll(/[\\'"`^~-]|[^\n\x20-\x7e]/gu, escaped);
}

/** Prose for the flow of a page: what stands in backticks is bold, and an empty line parts two paragraphs. */
export function roffProse(text: string): string {
  const lines = text.split("\n").map((line) => line.trim());
  const parts = lines
    .join("\n")
    .split(/`([^`\n]+)`/)
    .map((part, at) => (at % 2 === 1 ? roffBold(part) : literal(part)));
  return (
    parts
      .join("")
      // A line that begins with a dot would be a request.
      .replaceAll(/^\./gm, "\\&.")
      .replaceAll(/\n{2,}/g, "\n.PP\n")
  );
}

/** A word or a line that is typed as it stands: it is not broken. */
export function roffBold(text: string): string {
  return `\\fB${literal(text)}\\fR`;
}

/** The text of a heading or of another argument of a request. */
export function roffArgument(text: string): string {
  return `"${literal(text)}"`;
}

/** The head of a page. Lines are not filled up with blanks, and words not parted: names of settings are long. */
export function roffTitle(name: string, section: number, version: string, seconds: number): string {
  const date = new Date(seconds * 1000).toISOString().slice(0, 10);
  const note = '.\\" Generated from the source of dropgate; do not edit.';
  return `${note}\n.TH ${roffArgument(name)} ${section} ${date} ${roffArgument(`dropgate ${version}`)}\n.ad l\n.nh`;
}

/** An item of a list: what it is about, and below it what there is to say. */
export function roffItem(term: string, text: string): string {
  return `.TP\n${term}\n${text}`;
}
