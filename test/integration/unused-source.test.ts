/** Nothing lies in `src` that does not run: no file that nothing leads to, no export that nobody uses. */
import { describe, expect, test } from "vitest";
import { textOf } from "../support/markdown.ts";
import { filesIn, importsOf, isProduction, modulesNamedIn } from "../support/source-files.ts";

const production = filesIn("src").filter(isProduction);

describe("each file of the source", () => {
  test("is reached from the process entry, by imports and by the modules of threads and processes", () => {
    const reached = new Set(["src/main.ts"]);
    // A set that grows while it is walked through gives its new members as well.
    for (const file of reached) {
      for (const named of modulesNamedIn(file)) if (production.includes(named)) reached.add(named);
    }
    expect(production.filter((file) => !reached.has(file))).toEqual([]);
    expect(reached.size).toBeGreaterThan(500);
  });
});

const everywhere = ["src", "tools", "test", "bench"].flatMap(filesIn);
const texts = new Map(everywhere.map((file) => [file, textOf(file)]));
const importers = new Map<string, string[]>();
for (const from of everywhere) {
  for (const to of importsOf(from)) importers.set(to, [...(importers.get(to) ?? []), from]);
}

interface Export {
  readonly file: string;
  readonly name: string;
  readonly isType: boolean;
}

const exported: readonly Export[] = production.flatMap((file) =>
  [
    ...(texts.get(file) ?? "").matchAll(
      /^export (?:async )?(?:abstract )?(function\*?|const|let|class|interface|type) +(\w+)/gm,
    ),
  ].map(([, kind = "", name = ""]) => ({ file, name, isType: kind === "interface" || kind === "type" })),
);

function timesIn(file: string, name: string): number {
  return [...(texts.get(file) ?? "").matchAll(new RegExp(`\\b${name}\\b`, "g"))].length;
}

function usersOf({ file, name }: Export): string[] {
  return (importers.get(file) ?? []).filter((user) => timesIn(user, name) > 0);
}

/** What no import names: a table that a document is held to, and what threads ask of the modules they load. */
const namedElsewhere = ["messageFieldMeanings", "createClient"];

describe("each export of the source", () => {
  test("is used by what runs", () => {
    const unused = exported.filter(
      (one) =>
        timesIn(one.file, one.name) === 1 &&
        !usersOf(one).some((user) => user.startsWith("src/") && isProduction(user)) &&
        !namedElsewhere.includes(one.name),
    );
    expect(unused.map(({ file, name }) => `${file}: ${name}`)).toEqual([]);
    expect(exported.length).toBeGreaterThan(1000);
  });

  test("is used by another file, unless it is a type: what only its own file needs stays there", () => {
    const own = exported.filter(
      (one) => !one.isType && usersOf(one).length === 0 && !namedElsewhere.includes(one.name),
    );
    expect(own.map(({ file, name }) => `${file}: ${name}`)).toEqual([]);
  });
});
