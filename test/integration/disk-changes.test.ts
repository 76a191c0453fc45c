/** Each change of the disk is a step at which the crash tests can have the process die, because all go through one module. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const changing =
  /^(?:(?:f?(?:data)?sync|ftruncate|truncate|link|symlink|rename|unlink|rm|rmdir|mkdir|write|writev|writeFile|appendFile|copyFile|cp|utimes|futimes|createWriteStream)(?:Sync)?)$/;
const imported = /import (?:type )?(\{[^}]*\}|\* as \w+) from "node:fs(?:\/promises)?";/g;

/** Which calls of a source file change the disk without the module. */
function directChanges(path: string): string[] {
  const text = readFileSync(path, "utf8");
  const names = [...text.matchAll(imported)].flatMap(([, names = ""]) => {
    if (!names.startsWith("*")) return names.slice(1, -1).split(",");
    const space = names.slice("* as ".length);
    return [...text.matchAll(new RegExp(`\\b${space}\\.(\\w+)`, "g"))].map(([, name = ""]) => name);
  });
  const isChanging = (name: string) => changing.test(name.trim().replace(/ as .*$/, ""));
  return [...new Set(names.filter(isChanging))].map((name) => `${path}: ${name.trim()}`);
}

test("files and folders are changed through src/lib/files/changes.ts alone", () => {
  const files = readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && !/(^|\/)testing\//.test(name))
    .map((name) => join("src", name));
  const exempt = ["src/lib/files/changes.ts", "src/lib/kill-point.ts"];
  expect(files.filter((path) => !exempt.includes(path)).flatMap(directChanges)).toEqual([]);
  expect(directChanges("src/lib/files/changes.ts")).toContain("src/lib/files/changes.ts: renameSync");
});

test("the steps that crash tests name are made by functions that there are", () => {
  const sources = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  );
  const tests = readdirSync("test/e2e").map((name) => readFileSync(join("test/e2e", name), "utf8"));
  const named = tests.flatMap((text) => [
    ...text.matchAll(
      /(?:\b(?:mkdir|create|write|copyFile|truncate|fsync|syncFolder|link|rename|unlink|utimes|unit|commit|remote)|\})@([a-z-]+)(?:\.(\w+))?[:"`]/g,
    ),
  ]);
  const isThere = (file: string, name: string | undefined) => {
    const texts = sources
      .filter((path) => path.endsWith(`/${file}.ts`))
      .map((path) => readFileSync(join("src", path), "utf8"));
    // A function, a method, or a property that is one.
    return texts.some(
      (text) =>
        name === undefined || new RegExp(`\\b${name}(?:<.*>)?(?:\\(|: \\(| = (?:async )?\\()`).test(text),
    );
  };
  const gone = named.filter(([, file = "", name]) => !isThere(file, name)).map(([step]) => step);
  expect(gone).toEqual([]);
  expect(named.length).toBeGreaterThan(40);
});
