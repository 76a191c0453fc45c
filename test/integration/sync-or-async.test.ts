/** Whether a function gives its result or a promise of it shows in its type, and is never found out at run time. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { filesBelow } from "../support/files-below.ts";

const root = join(import.meta.dirname, "../..");

/** The line without the arguments of its types: `Promise<A | B> | C` is `Promise<> | C`. */
function withoutArguments(line: string): string {
  const shorter = line.replaceAll(/<[^<>=]+>/g, "<>");
  return shorter === line ? line : withoutArguments(shorter);
}

/** The lines of a text in which a type is a value or a promise of it, or the two are told apart. */
function undecidedIn(text: string): readonly string[] {
  const forms = /\| Promise<|Promise<> \| (?!undefined\b)|instanceof Promise\b|PromiseLike|"then" in /;
  return text.split("\n").filter((line) => forms.test(withoutArguments(line)));
}

it("no function gives a result or a promise of it", () => {
  const sources = [...filesBelow(join(root, "src"))].filter(
    // Steps at which a process dies stand around calls of any kind.
    ([file]) => file.endsWith(".ts") && !file.endsWith(".test.ts") && file !== "lib/kill-point.ts",
  );
  expect(sources.length).toBeGreaterThan(500);
  const found = sources.flatMap(([file, bytes]) =>
    undecidedIn(bytes.toString()).map((line) => `${file}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});

it.each([
  "  run(request: OperationRequest): Answer | Promise<Answer>;",
  "): Promise<Content> | Content {",
  "  if (answer instanceof Promise) void answer.then(succeed, fail);",
])("%s is found", (line) => {
  expect(undecidedIn(`first\n${line}\nlast`)).toEqual([line]);
});

it.each(["let running: Promise<void> | undefined;", "): Promise<Map<string, Content> | undefined> {"])(
  "%s is decided",
  (line) => {
    expect(undecidedIn(line)).toEqual([]);
  },
);
