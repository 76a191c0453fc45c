/**
 * In the process that runs the tests, for each of their files: tells `kept-process.ts` what is left over behind the file, and
 * gives tests little time where a change is tried.
 */
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, inject, vi } from "vitest";
import { additional, type LeftOverReport } from "./left-over.ts";

/** What a test has closed may end a moment later. */
const looks = 10;
const pauseMs = 10;

// A change that keeps an event from coming is seen when a test has waited for it this long. Stryker says what is run; before
// the first change, all tests have the time that they always have.
if (inject("mode" as never) === "mutant") vi.setConfig({ testTimeout: 10_000, hookTimeout: 20_000 });

// Each run of a process that is kept adds listeners of vitest.
process.setMaxListeners(0);

const key = Symbol.for("dropgate: resources before the first test");
const known: { [name: symbol]: readonly string[] | undefined } = globalThis as never;
known[key] ??= process.getActiveResourcesInfo();
const before = known[key];

afterAll(async () => {
  let leftOver = additional(process.getActiveResourcesInfo(), before);
  for (let look = 1; look < looks && leftOver.length > 0; look += 1) {
    await pause(pauseMs);
    leftOver = additional(process.getActiveResourcesInfo(), before);
  }
  process.send?.({ from: "left-over", leftOver } satisfies LeftOverReport);
});
