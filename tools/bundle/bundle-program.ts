/**
 * Puts the built program together into few files, `dist/bundled/`: Node.js needs more time to find and link two thousand
 * modules than the program needs to start. What stands beside it in `dist/` stays as it is, module by module. A module finds
 * its files by its own place there, `import.meta.url`; `import.meta.filename` names the file that runs.
 */
import http from "node:http";
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

/** What `main.js` loads. */
const commands = ["cli/run-cli.js", "cli/ask.js"];

/** What runs in a thread or a process of its own. */
function runsAlone(path: string): boolean {
  return /-(?:worker|process|thread)\.js$/.test(path);
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

/** Each is global as well, and reading one of them loads undici, 50 modules of Node.js that a start has no use for. */
const ofUndici = new Set(["CloseEvent", "MessageEvent", "WebSocket"]);

/** `import … from "node:http"` makes Node.js read all that the module exports; asked for like this, it does not. */
const httpAlone: Plugin = {
  name: "http-alone",
  resolveId: (name) => (name === "node:http" ? { id: "\0node:http", moduleSideEffects: false } : null),
  load(id) {
    if (id !== "\0node:http") return null;
    const names = Object.keys(http).filter((name) => !ofUndici.has(name));
    return `const http = process.getBuiltinModule("node:http");
      export default http;
      export const { ${names.join(", ")} } = http;`;
  },
};

/** Nothing calls another command in the program of `serve`; what one would load stays outside, in `dist/`. */
const serveAlone: Plugin = {
  name: "serve-alone",
  resolveId(name, importer, { kind }) {
    if (kind !== "dynamic-import" || importer === undefined) return null;
    const from = relative(built, importer);
    if (!from.startsWith("cli/commands/") || from === "cli/commands/serve-command.js") return null;
    return { id: `../${relative(built, join(dirname(importer), name))}`, external: "relative" };
  },
};

/** Puts together what these entries load, in files that no other call uses: a start then loads few. */
async function put(input: Readonly<Record<string, string>>, plugins: Plugin[] = []): Promise<void> {
  const bundle = await rolldown({
    input: { ...input },
    platform: "node",
    external: (name) =>
      Object.keys(dependencies).some((each) => `${name}/`.startsWith(`${each}/`) && !together.has(each)),
    plugins: [ownPlaces, httpAlone, ...plugins],
  });
  await bundle.write({
    dir: unfinished,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: ({ name }) => `${basename(name)}-[hash].js`,
  });
  await bundle.close();
}

// Under another name until it is whole: without it the program runs module by module.
const unfinished = `${bundled}.new`;
for (const folder of [bundled, unfinished]) await rm(folder, { recursive: true, force: true });
const entries = globSync("**/*.js", { cwd: built }).toSorted();
const inputOf = (paths: readonly string[]) =>
  Object.fromEntries(paths.map((path) => [entryName(path), join(built, path)]));
await put(inputOf(commands));
// A start loads nearly all of it: by itself, it needs not lie in the parts that commands share.
await put({ serve: join(built, "cli/run-cli.js") }, [serveAlone]);
for (const path of entries.filter(runsAlone)) await put(inputOf([path]));
await rename(unfinished, bundled);
