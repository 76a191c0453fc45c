/** The console speaks by its catalogue alone, and the catalogue has no word that nothing says. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { words } from "../../src/endpoints/http/console/words/words.ts";
import { textOf } from "../support/markdown.ts";
import { filesIn, isProduction } from "../support/source-files.ts";
import { templateTexts, withoutPlainTemplates, wordsInTemplate } from "../support/template-texts.ts";

const folder = "src/endpoints/http/console";
const inWords = join(folder, "words");
const files = filesIn(folder).filter((file) => isProduction(file) && !file.startsWith(inWords));
const uncommented = (text: string) => text.replace(/\/\*.*?\*\//gs, "").replace(/^\s*\/\/.*$/gm, "");
const sources = new Map(files.map((file) => [file, uncommented(textOf(file))]));

/** A string that a person is meant to read: a word or a sentence that begins as one. */
const readable = /(?<![\w.[]|summary: )"([A-Z][a-z]{2,}(?:[ ,'’][^"\\\n]*)?)"/g;
/** Names of protocols and formats, not words. */
const notWords: readonly string[] = ["Accept", "Basic", "Escape"];

function literalsOf(source: string): readonly string[] {
  const inTemplates = templateTexts(source).flatMap(wordsInTemplate);
  const strings = [...withoutPlainTemplates(source).matchAll(readable)].map(([, text = ""]) => text);
  return [...inTemplates, ...strings.filter((text) => !notWords.includes(text))];
}

describe("the pages of the console", () => {
  it.each([...sources])("%s has no words of its own", (_file, source) => {
    expect(literalsOf(source)).toEqual([]);
  });

  it("are read by a check that finds words wherever they are", () => {
    const found = (source: string) => literalsOf(source);
    const written = (source: string) => source.replaceAll("#{", "${");
    expect(found(written("html`<p>Hello #{name}</p>`"))).toEqual(["Hello"]);
    expect(found(written('html`<a title="Go on" href="/x">#{html`<b>inner</b>`}</a>`'))).toEqual([
      "Go",
      "on",
      "inner",
    ]);
    expect(found('const label = "Files of today";')).toEqual(["Files of today"]);
    expect(
      found(written('html`<p class="notice bad">#{words.x}</p>`; const role: Role = "MemberAdmin";')),
    ).toEqual([]);
    expect(sources.size).toBeGreaterThan(15);
  });
});

interface Text {
  /** Such as `files`, `states`, `applied`. */
  readonly path: readonly string[];
  readonly value: unknown;
}

function textsOf(value: unknown, path: readonly string[] = []): readonly Text[] {
  if (typeof value !== "object" || value === null) return [{ path, value }];
  return Object.entries(value).flatMap(([key, part]) => textsOf(part, [...path, key]));
}

/** Each part of the catalogue by the name under which its file has it. */
const parts = [...textOf(join(inWords, "words.ts")).matchAll(/^ {2}(\w+): (\w+Words),$/gm)].map(
  ([, section = "", name = ""]) => ({ section, name }),
);

/** The source with `words.files.x` wherever it says `text.x` after `const text = words.files`. */
function withoutAliases(source: string): string {
  let plain = source.replace(/\s*\n\s*\./g, ".");
  for (const { section, name } of parts)
    plain = plain.replace(new RegExp(`\\b${name}\\b`, "g"), `words.${section}`);
  for (const [, alias = "", path = ""] of plain.matchAll(/const (\w+) = words((?:\.\w+)+);/g))
    plain = plain.replace(new RegExp(`(?<![\\w.])${alias}(?=[.[),;])`, "g"), `words${path}`);
  for (const [, names = "", path = ""] of plain.matchAll(/const \{([^}]*)\} = words((?:\.\w+)*);/g)) {
    for (const name of names.split(",").map((one) => one.trim()))
      plain = plain.replace(new RegExp(`(?<![\\w.])${name}\\b`, "g"), `words${path}.${name}`);
  }
  return plain;
}

const users = ["src/app/console", "src/endpoints/http/openapi"]
  .flatMap(filesIn)
  .filter(isProduction)
  .map(textOf);
const plainSources = [...sources.values(), ...users].map(withoutAliases);

/** Whether the text, or the table that it stands in, is asked for somewhere. */
function isUsed(path: readonly string[]): boolean {
  const asked = [`words\\.${path.join("\\.")}\\b`];
  // A table is asked for by a key that is computed, or as a whole.
  for (let length = 1; length < path.length; length += 1)
    asked.push(`words\\.${path.slice(0, length).join("\\.")}(?:\\[|\\)|,|;)`);
  const pattern = new RegExp(asked.join("|"));
  return plainSources.some((source) => pattern.test(source));
}

describe("the catalogue", () => {
  const texts = textsOf(words);

  it("has no text that nothing says", () => {
    const unused = texts.filter(({ path }) => !isUsed(path));
    expect(unused.map(({ path }) => path.join("."))).toEqual([]);
    expect(texts.length).toBeGreaterThan(40);
  });

  it("has no empty text, and none with spaces at its ends", () => {
    const odd = texts.filter(
      ({ value }) => typeof value === "string" && (value === "" || value.trim() !== value),
    );
    expect(odd).toEqual([]);
  });

  it("is checked by what finds the use of a text, by whatever name, and that of none", () => {
    expect(withoutAliases("const text = words.files;\nreturn text.title;")).toContain("words.files.title");
    expect(withoutAliases("const { done } = words.files;\nsay(done);")).toContain("say(words.files.done)");
    expect(isUsed(["frame", "skip"])).toBe(true);
    expect(isUsed(["frame", "names", "audit"])).toBe(true);
    expect(isUsed(["frame", "nobodySays"])).toBe(false);
  });
});
