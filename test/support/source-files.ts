/** The files of the source and which of them name which. Paths begin at the project's folder. */
import { readdirSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { projectFolder, textOf } from "./markdown.ts";

export function filesIn(folder: string): string[] {
  return readdirSync(join(projectFolder, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(folder, name));
}

/** What runs: neither a test beside the code nor what is there for tests. */
export function isProduction(file: string): boolean {
  return !file.endsWith(".test.ts") && !file.includes("/testing/");
}

function named(file: string, pattern: RegExp): string[] {
  return [...textOf(file).matchAll(pattern)].map(([, path = ""]) => normalize(join(dirname(file), path)));
}

/** What the file imports, at its start or when it needs it. */
export function importsOf(file: string): string[] {
  return named(file, /(?:from|import)\s*\(?\s*"(\.[^"]+)"/g);
}

/** What it imports, and the modules that it names for threads and processes of their own, which have no extension. */
export function modulesNamedIn(file: string): string[] {
  return named(file, /"(\.\.?\/[^"\n]+)"/g).flatMap((path) => [path, `${path}.ts`]);
}
