/** The literal parts of HTML templates in a source file: what stands there in one language, whatever the catalogue says. */

/** The index behind the string or template that begins at the index. */
function endOfLiteral(source: string, start: number): number {
  const quote = source[start];
  for (let at = start + 1; at < source.length; at += 1) {
    if (source[at] === "\\") at += 1;
    else if (source[at] === quote) return at + 1;
    else if (quote === "`" && source.startsWith("${", at)) at = endOfHole(source, at + 2) - 1;
  }
  throw new Error(`a literal does not end: ${source.slice(start, start + 60)}`);
}

/** The index behind the brace that ends the hole of a template. */
function endOfHole(source: string, start: number): number {
  let depth = 1;
  let at = start;
  while (depth > 0) {
    const sign = source[at];
    if (sign === undefined) throw new Error("a hole of a template does not end");
    if (sign === '"' || sign === "'" || sign === "`") at = endOfLiteral(source, at);
    else {
      if (sign === "{") depth += 1;
      if (sign === "}") depth -= 1;
      at += 1;
    }
  }
  return at;
}

/** The text of a template with a zero character for each hole, and what stands in the holes. */
function partsOf(template: string): { readonly text: string; readonly holes: readonly string[] } {
  const holes: string[] = [];
  let text = "";
  for (let at = 1; at < template.length - 1; at += 1) {
    if (template.startsWith("${", at)) {
      const end = endOfHole(template, at + 2);
      holes.push(template.slice(at + 2, end - 1));
      text += "\0";
      at = end - 1;
    } else text += template[at];
  }
  return { text, holes };
}

/** Each template that makes HTML, those within others too, with a zero character in place of what is put in. */
export function templateTexts(source: string): readonly string[] {
  const found: string[] = [];
  let at = source.indexOf("html`");
  while (at !== -1) {
    const start = at + "html".length;
    const end = endOfLiteral(source, start);
    const { text, holes } = partsOf(source.slice(start, end));
    found.push(text, ...holes.flatMap(templateTexts));
    at = source.indexOf("html`", end);
  }
  return found;
}

/** The source without templates that make no HTML: samples, commands and addresses. */
export function withoutPlainTemplates(source: string): string {
  let kept = "";
  let at = 0;
  for (let start = source.indexOf("`"); start !== -1; start = source.indexOf("`", at)) {
    const end = endOfLiteral(source, start);
    kept += source.slice(at, /\bhtml$/.test(source.slice(0, start)) ? end : start);
    at = end;
  }
  return kept + source.slice(at);
}

/** Attributes that people read or hear. */
const readAttribute = /\b(?:title|aria-label|alt|placeholder)="([^"\0]*)"/g;
/** Attributes that a template makes outside of a tag, to be put into one. */
const attribute =
  /[\w-]+="[^"]*"|\b(?:open|selected|checked|required|hidden|disabled|multiple)\b|\bdata-[\w-]+/g;
/** What is a sign for all: the name of the program, units. */
const names = /\b(?:dropgate)\b/g;

/** Words that people would see of a template. */
export function wordsInTemplate(text: string): readonly string[] {
  const attributes = [...text.matchAll(readAttribute)].map(([, value = ""]) => value);
  const visible = text
    .replace(/<!--.*?-->/gs, " ")
    .replace(/<[^>]*>/g, " ")
    .replace(/&[#\w]+;/g, " ")
    .replace(attribute, " ");
  return [visible, ...attributes].flatMap((one) => one.replace(names, " ").match(/[A-Za-z]{2,}/g) ?? []);
}
