import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createLogger } from "../lib/logs/log.ts";
import { ProgramAge } from "./program-age.ts";

const balancersMs = 10_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

/** That of a program of schema 25, and what it has refused writes with. */
function start() {
  const refused: (string | undefined)[] = [];
  const age = new ProgramAge({
    refuseWrites: async (reason) => void refused.push(reason),
    schema: 25,
    balancersMs,
    log: createLogger({ level: "info", destination: { write: () => undefined } }),
  });
  return { age, refused };
}

test("a node that is too old goes on writing until it has no company and balancers have had their time", async () => {
  const { age, refused } = start();
  await age.note(26, 0);
  expect(age.fault).toMatch(/schema 25.*schema 26/);
  vi.advanceTimersByTime(balancersMs - 1);
  await age.note(26, 0);
  expect([age.isAway, refused]).toEqual([false, []]);
  vi.advanceTimersByTime(1);
  await age.note(26, 1);
  expect([age.isAway, refused]).toEqual([false, []]);
  await age.note(26, 0);
  expect([age.isAway, refused]).toEqual([true, [age.fault]]);
});

test("it writes no less for being asked again, and goes on when the migration is given up", async () => {
  const { age, refused } = start();
  await age.note(26, 0);
  vi.advanceTimersByTime(balancersMs);
  for (let times = 0; times < 2; times += 1) await age.note(26, 0);
  expect(refused).toHaveLength(1);
  await age.note(25, 0);
  expect([age.fault, age.isAway, refused.at(-1)]).toEqual([undefined, false, undefined]);
});
