/**
 * Which packages a start loads before it does anything: each costs every command, daemon and thread tens of milliseconds of a
 * processor. What is loaded when it is needed, by `import()`, does not count.
 */
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";
import { textOf } from "../support/markdown.ts";

/** Modules that are imported at the start of a file, and not for their types alone. */
function importedAtStart(file: string): string[] {
  const statements = textOf(file).matchAll(/^(?:import|export)\s+(?!type\b)(?:[^;"]*?\sfrom\s+)?"([^"]+)"/gm);
  return [...statements].map(([, name = ""]) => name);
}

/** The packages that are loaded with a file, by itself or by what it imports. */
function packagesLoadedWith(entry: string): string[] {
  const files = new Set([entry]);
  const packages = new Set<string>();
  // A set that grows while it is walked through gives its new members as well.
  for (const file of files) {
    for (const name of importedAtStart(file)) {
      if (name.startsWith(".")) files.add(normalize(join(dirname(file), name)));
      else if (!name.startsWith("node:")) packages.add(name);
    }
  }
  return [...packages].toSorted();
}

const typebox = ["@sinclair/typebox", "@sinclair/typebox/compiler", "@sinclair/typebox/errors"];

test.each<[string, readonly string[]]>([
  ["src/main.ts", []],
  ["src/cli/run-cli.ts", ["commander"]],
  ["src/config/load-config.ts", ["@sinclair/typebox", "yaml"]],
  ["src/app/admin/admin-store.ts", ["better-sqlite3", "kysely"]],
  ["src/documents/pool/document-worker.ts", [...typebox, "libxml2-wasm"]],
  ["src/inbound/places/file-away-worker.ts", []],
  ["src/targets/folder/folder-worker.ts", []],
  ["src/endpoints/folders/take-worker.ts", []],
  ["src/integrations/mapping-worker.ts", ["jsonata", "libxml2-wasm"]],
  ["src/store/database/integrity-worker.ts", ["better-sqlite3", "kysely"]],
])("%s loads no package but %j", (entry, packages) => {
  expect(packagesLoadedWith(entry)).toEqual(packages);
});

test("a daemon loads no package that only its threads and processes need", () => {
  const loaded = packagesLoadedWith("src/app/daemon/run-daemon.ts");
  expect(loaded).toContain("kysely");
  const ofThreads = ["basic-ftp", "jsonata", "libxml2-wasm", "nodemailer", "ssh2-sftp-client"];
  expect(loaded.filter((name) => ofThreads.includes(name) || name === "commander")).toEqual([]);
});
