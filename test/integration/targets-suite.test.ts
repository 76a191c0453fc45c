import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { targetTypes } from "../support/target-types.ts";

test("every type of target goes through the suite of all targets", () => {
  const tests = readdirSync(import.meta.dirname)
    .filter((name) => name.startsWith("targets-"))
    .map((name) => readFileSync(join(import.meta.dirname, name), "utf8"));
  const titles = tests.flatMap((text) =>
    [...text.matchAll(/describeTarget\("([^"]+)"/g)].map(([, title]) => title),
  );
  expect(targetTypes).toContain("folder");
  expect(targetTypes.filter((type) => !titles.some((title) => title?.split(/\W+/).includes(type)))).toEqual(
    [],
  );
});
