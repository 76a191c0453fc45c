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
    rule: "the state of a cancelled stop",
    // Not as the key of a table of states, nor in the answer to a stop document, whose codes are its own.
    sign: /(?<!"10" : )"99"(?!:)/,
    file: "domain/stop/stop-status.ts",
  },
  {
    rule: "the events that tell where the scheduling of a stop stands",
    sign: /recordedEvents\.schedulingInitiated\.code,\s*recordedEvents\.schedulingConfirmed\.code/,
    file: "domain/outbound/recorded-events.ts",
  },
  {
    rule: "the states in which a delivery has ended",
    sign: /"delivered",\s*"dropped"\s*\]|"delivered" \|\| \w+\.state === "dropped"/,
    file: "domain/outbound/delivery-state.ts",
  },
  {
    rule: "how a delivery that was given up is known",
    sign: /"dropped" && [\w.]+ === givenUpFault|= "givenUp";/,
    file: "domain/outbound/delivery-state.ts",
  },
  {
    rule: "the range of names of one stop's completion files",
    sign: /_99999999_999999/,
    file: "domain/outbound/completion-name.ts",
  },
  {
    rule: "the states in which a ledger entry is open, and those in which it is decided",
    sign: /"waiting"(,| \|\| [\w.]+ === | && [\w.]+ !== )\s*"retry"|"applied",\s*"refused",\s*"duplicate",\s*"superseded"/,
    file: "domain/files/file-state.ts",
  },
  {
    rule: "the states in which a load is over",
    sign: /\[\s*90,\s*99\s*\]/,
    file: "domain/load/load-status.ts",
  },
  {
    rule: "the clock that nobody sets",
    sign: /hrtime/,
    file: "lib/clock.ts",
  },
  {
    rule: "how long a second, a minute, an hour and a day are",
    sign: /const (second|minute|hour|day)Ms =/,
    file: "lib/durations.ts",
  },
  {
    rule: "a number with its noun",
    sign: /=== 1 \? one|=== 1 \? "1 /,
    file: "lib/counted.ts",
  },
  {
    rule: "the file of a module in a thread or process of its own",
    sign: /endsWith\("\.ts"\)\s*\?/,
    file: "lib/threads/sibling-module.ts",
  },
] as const;

const sources = readdirSync("src", { recursive: true, encoding: "utf8" }).filter(
  (name) => name.endsWith(".ts") && !name.endsWith(".test.ts"),
);

it.each(definitions)("$rule: written out in one place", ({ sign, file }) => {
  const found = sources.filter((name) => sign.test(readFileSync(join("src", name), "utf8")));
  expect(found).toEqual([file]);
});
