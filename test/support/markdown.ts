/** The documents of the project, as tests read them. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

export const projectFolder = resolve(import.meta.dirname, "../..");

/** Where the pages of the specification are. */
export const specificationFolder = "docs/specification";

/** A page of the specification by its name without ending. */
export function specificationPage(page: string): string {
  return join(specificationFolder, `${page}.md`);
}

/** A document by its path in the project. */
export function textOf(name: string): string {
  return readFileSync(join(projectFolder, name), "utf8");
}

/** A fenced block of a document. */
export interface Block {
  readonly language: string;
  readonly text: string;
}

/** The fenced blocks in their order. */
export function blocksIn(name: string): Block[] {
  return [...textOf(name).matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = "", text = ""]) => ({
    language,
    text,
  }));
}

/** The text without fenced blocks: links and code spans stand here. */
export function proseOf(name: string): string {
  return textOf(name).replaceAll(/^```.*?^```$/gms, "");
}

/** Code spans of a piece of text. */
export function spansOf(text: string): string[] {
  return [...text.matchAll(/`([^`\n]+)`/g)].map(([, span = ""]) => span);
}

/** Code spans outside of fenced blocks. */
export function spansIn(name: string): string[] {
  return spansOf(proseOf(name));
}

/** The anchor that the usual renderers make from a heading. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

/** The anchors of the headings. */
export function anchorsIn(name: string): Set<string> {
  return new Set([...proseOf(name).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => anchorOf(heading)));
}

/** The paths of the Markdown files below a folder of the project. */
export function markdownIn(folder: string): string[] {
  return readdirSync(join(projectFolder, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name));
}

function cellsOf(line: string): string[] {
  return line
    .slice(1, -1)
    .split("|")
    .map((cell) => cell.trim());
}

/** The first table under a heading, without its head: the cells of each row. Throws when there is none. */
export function tableUnder(name: string, heading: string): string[][] {
  const [, section = ""] = proseOf(name).split(new RegExp(`^#+ ${heading}$`, "m"));
  const [text = ""] = section.split(/^#+ /m);
  const [table] = text.match(/^\|.*\|\n\|[-|]+\|\n(\|.*\|\n?)+/m) ?? [];
  if (table === undefined) throw new Error(`${name} has no table under the heading ${heading}`);
  return table.trimEnd().split("\n").slice(2).map(cellsOf);
}
