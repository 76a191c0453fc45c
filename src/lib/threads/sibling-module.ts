/**
 * The file of a module that runs in a thread or process of its own: `.js` where the program runs from `dist`, `.ts` where it
 * runs from the sources. `path` is without extension and relative to `base`, the `import.meta.url` of the module that asks.
 */
export function siblingModule(path: string, base: string): URL {
  return new URL(`${path}.${base.endsWith(".ts") ? "ts" : "js"}`, base);
}
