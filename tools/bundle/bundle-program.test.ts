import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const bundled = fileURLToPath(new URL("../../dist/bundled/", import.meta.url));
const files = readdirSync(bundled);
const textOf = (file: string): string => readFileSync(join(bundled, file), "utf8");

function matches(file: string, pattern: RegExp): string[] {
  return [...textOf(file).matchAll(pattern)].map(([, found = ""]) => found);
}

/** A file with all that are loaded before it runs. */
function loadedWith(file: string, loaded = new Set<string>()): Set<string> {
  if (loaded.has(file)) return loaded;
  loaded.add(file);
  for (const each of matches(file, /^(?:import|export) (?:.* from )?"\.\/(.+)";$/gm))
    loadedWith(each, loaded);
  return loaded;
}

test("a start loads few files", () => {
  const [daemon = ""] = matches("serve.js", /\bimport\("\.\/(run-daemon-.+\.js)"\)/g);
  const loaded = loadedWith(daemon, loadedWith("serve.js"));
  expect(loaded.size).toBeGreaterThan(2);
  expect(loaded.size).toBeLessThan(20);
});

test("a thread that parses documents loads one file", () => {
  expect(loadedWith("documents.pool.document-worker.js").size).toBe(1);
});

test("what the program of serve leaves outside is there", () => {
  const outside = matches("serve.js", /\bimport\("(\.\.\/.+?)"\)/g);
  expect(outside.length).toBeGreaterThan(20);
  expect(outside.filter((path) => !existsSync(join(bundled, path)))).toEqual([]);
});

test("nothing makes Node.js read all of node:http", () => {
  expect(files.filter((file) => /(?:from|import) ?\(?"node:http"/.test(textOf(file)))).toEqual([]);
});
