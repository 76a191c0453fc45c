/**
 * Puts the built program together into few files, `dist/bundled/`: Node.js needs more time to find and link two thousand
 * modules than the program needs to start. What stands beside it in `dist/` stays as it is, module by module. A module finds
 * its files by its own place there, `import.meta.url`; `import.meta.filename` names the file that runs.
 */
import { globSync, readFileSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type Plugin, rolldown } from "rolldown";

const built = fileURLToPath(new URL("../../dist/", import.meta.url));
const { dependencies } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  readonly dependencies: Readonly<Record<string, string>>;
};
const bundled = join(built, "bundled");

/** Many small modules of nothing but JavaScript; others have files of their own beside them, or few modules. */
const together = new Set(["@sinclair/typebox", "commander", "fast-xml-parser", "kysely", "yaml"]);

/** What `main.js` loads, and what runs in a thread or a process of its own. */
function isEntry(path: string): boolean {
  return /^cli\/(?:run-cli|ask)\.js$|-(?:worker|process|thread)\.js$/.test(path);
}

/** All files lie in one folder, so each place is as far from each of them. */
const ownPlaces: Plugin = {
  name: "own-places",
  transform(code, file) {
    if (!file.startsWith(built) || !/\bimport\.meta\.(?:url|dirname)\b/.test(code)) return null;
    const place = `new URL("../${relative(built, file)}", import.meta.url)`;
    const folder = `new URL("../${dirname(relative(built, file))}", import.meta.url)`;
    return code.replaceAll(/\bimport\.meta\.(url|dirname)\b/g, (_, asked) =>
      asked === "url" ? `${place}.href` : `decodeURIComponent(${folder}.pathname)`,
    );
  },
};

/** `documents/pool/document-worker.js` → `documents.pool.document-worker`, in one folder with all others. */
function entryName(path: string): string {
  return path.slice(0, -".js".length).replaceAll("/", ".");
}

// Under another name until it is whole: without it the program runs module by module.
const unfinished = `${bundled}.new`;
for (const folder of [bundled, unfinished]) await rm(folder, { recursive: true, force: true });
const entries = globSync("**/*.js", { cwd: built }).filter(isEntry).toSorted();
const bundle = await rolldown({
  input: Object.fromEntries(entries.map((path) => [entryName(path), join(built, path)])),
  platform: "node",
  external: (name) =>
    Object.keys(dependencies).some((each) => `${name}/`.startsWith(`${each}/`) && !together.has(each)),
  plugins: [ownPlaces],
});
await bundle.write({
  dir: unfinished,
  format: "esm",
  entryFileNames: "[name].js",
  chunkFileNames: ({ name }) => `${basename(name)}-[hash].js`,
});
await bundle.close();
await rename(unfinished, bundled);
