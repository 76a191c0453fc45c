/** The scripts of package.json in a fresh clone, on a machine with whatever Node.js: none needs another to be run before. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as {
  readonly scripts: Readonly<Record<string, string>>;
};

test.each(Object.entries(scripts).filter(([, script]) => /\bnode \S+\.ts\b/.test(script)))(
  "%s runs our own programs with the Node.js that bin/prepare installs",
  (name, script) => {
    // The lint is for a clone that was prepared: it also names the linter itself, which is not there before.
    if (name === "lint") expect(script).toMatch(/^biome /);
    else expect(script).toMatch(/^sh bin\/prepare && node /);
  },
);
