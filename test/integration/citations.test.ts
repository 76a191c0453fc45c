/**
 * Comments that speak of a rule cite the heading of docs/specification where it stands, in one form (CONTRIBUTING.md, "Citing
 * the specification"): every citation leads to a heading, and no other form is left.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { anchorsIn, markdownIn, projectFolder, specificationFolder } from "../support/markdown.ts";

const code = ["src", "tools", "bench", "bin", "test", "systemd", "config", "xsd"].flatMap(filesIn);
const documents = ["README.md", "CONTRIBUTING.md", ...markdownIn("docs")];

function filesIn(folder: string): string[] {
  return readdirSync(join(projectFolder, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(projectFolder.length + 1));
}

/** The file with comments on one line, so that a citation that a line break cuts in two is found. */
function textOf(name: string): string {
  return readFileSync(join(projectFolder, name), "latin1").replaceAll(/\n[ \t]*(\*|\/\/|#)?[ \t]*/g, " ");
}

const anchorsOf = new Map<string, ReadonlySet<string>>(
  markdownIn(specificationFolder).map((name) => [name.replace("docs/", ""), anchorsIn(name)]),
);

/** Whatever begins like a citation: the folder's name, a slash, and what follows up to a blank or bracket. */
const citation = /\bspecification\/[^\s)\]`"',;]*/g;

/** What is wrong with a citation; undefined when it leads to a heading. */
function faultOf(cited: string): string | undefined {
  const [page = "", anchor] = cited.replace(/\.$/, "").split("#");
  const anchors = anchorsOf.get(page);
  if (anchors === undefined) return `${cited}: there is no such page`;
  if (anchor === undefined) return `${cited}: it names no heading`;
  return anchors.has(anchor) ? undefined : `${cited}: the page has no such heading`;
}

function citationsIn(text: string): string[] {
  return [...text.matchAll(citation)].map(([cited]) => cited);
}

/** Forms in which rules were cited before: by the numbers of documents that are not in this repository. */
const formerForms = [
  /(?<!\[)\b[Dd]ecisions? \d[\d.]*/g,
  /\b[Ii]nterface (\d[\d.]*|"[^"]*")/g,
  /\([Ii]nterface\b[:;,]?/g,
  /\bD \d+(\.\d+)?\b/g,
];

function formerCitationsIn(text: string): string[] {
  return formerForms.flatMap((form) => [...text.matchAll(form)].map(([cited]) => cited));
}

function told(names: readonly string[], faultsIn: (text: string) => readonly string[]): string[] {
  return names.flatMap((name) => faultsIn(textOf(name)).map((fault) => `${name}: ${fault}`));
}

/** Put together here, so that this file has no wrong citation itself. */
const folder = ["specification", ""].join("/");

describe("citations", () => {
  test("in the code lead to a heading of the specification", () => {
    const faultsIn = (text: string) =>
      citationsIn(text)
        .map(faultOf)
        .filter((fault) => fault !== undefined);
    expect(told(code, faultsIn)).toEqual([]);
    expect(told(code, citationsIn).length).toBeGreaterThan(100);
  });

  test("in documents that name a heading lead to it", () => {
    const faultsIn = (text: string) =>
      citationsIn(text)
        .filter((cited) => cited.includes("#"))
        .map(faultOf)
        .filter((fault) => fault !== undefined);
    expect(told(documents, faultsIn)).toEqual([]);
  });

  test("have no other form", () => {
    expect(told([...code, ...documents], formerCitationsIn)).toEqual([]);
  });

  test("of documents in the code name files that are there", () => {
    const missing = (text: string) =>
      [...text.matchAll(/\bdocs\/[\w/-]+\.md\b/g)]
        .map(([path]) => path)
        .filter((path) => !existsSync(join(projectFolder, path)));
    expect(told(code, missing)).toEqual([]);
  });
});

describe("a citation", () => {
  test.each([
    [`${folder}file-exchange.md#order`, undefined],
    [`${folder}file-exchange.md#orders`, "the page has no such heading"],
    [`${folder}file-exchange.md`, "it names no heading"],
    [`${folder}files.md#order`, "there is no such page"],
    [`${folder}file-`, "there is no such page"],
  ])("%s: %s", (cited, fault) => {
    expect(faultOf(cited)).toBe(fault === undefined ? undefined : `${cited}: ${fault}`);
  });

  test.each([
    ["decisions", "8"],
    ["decision", "12"],
    ["interface", "4.1"],
    ["interface", '"Limits"'],
    ["D", "6"],
  ])("as %s %s is of a former form", (word, number) => {
    expect(formerCitationsIn(`The schedule (${word} ${number}).`).length).toBeGreaterThan(0);
  });
});
