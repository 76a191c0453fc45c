import { existsSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(import.meta.filename);
/** The folder of the program when this runs put together into few files, as `tools/bundle` makes them. */
const bundled = basename(here) === "bundled" ? here : undefined;

/**
 * The file of a module that runs in a thread or process of its own: `.js` where the program runs from `dist`, `.ts` where it
 * runs from the sources. `path` is without extension and relative to `base`, the `import.meta.url` of the module that asks.
 */
export function siblingModule(path: string, base: string): URL {
  const module = new URL(`${path}.${base.endsWith(".ts") ? "ts" : "js"}`, base);
  if (bundled === undefined) return module;
  const name = relative(dirname(bundled), fileURLToPath(module)).replaceAll("/", ".");
  const together = join(bundled, name);
  return existsSync(together) ? pathToFileURL(together) : module;
}
