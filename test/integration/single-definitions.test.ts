import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

/** How a rule looks where somebody writes it out once more, and the one file that may. */
const definitions = [
  {
    rule: "the states in which a stop is done or final",
    sign: /\[\s*"80",\s*"90"/,
    file: "domain/stop/stop-status.ts",
  },
  {
    rule: "what a time window does to the state of a stop",
    sign: /"05"\s*\?\s*"10"|\?\s*"10"\s*:\s*"05"/,
    file: "domain/stop/stop-status.ts",
  },
  {
    rule: "the events that end a stop",
    sign: /\[\s*recordedEvents\.stopDelivery\.code,\s*recordedEvents\.stopClosed\.code,?\s*\]/,
    file: "domain/outbound/recorded-events.ts",
  },
  {
    rule: "the file of a module in a thread or process of its own",
    sign: /endsWith\("\.ts"\)\s*\?/,
    file: "lib/sibling-module.ts",
  },
] as const;

const sources = readdirSync("src", { recursive: true, encoding: "utf8" }).filter(
  (name) => name.endsWith(".ts") && !name.endsWith(".test.ts"),
);

it.each(definitions)("$rule: written out in one place", ({ sign, file }) => {
  const found = sources.filter((name) => sign.test(readFileSync(join("src", name), "utf8")));
  expect(found).toEqual([file]);
});
