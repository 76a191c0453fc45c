import { describe, expect, test } from "vitest";
import { giveUpAfterMs, nextAttemptAt, pausedUntil } from "./retry-schedule.ts";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const now = Date.UTC(2026, 10, 5, 8);
const middle = { now, random: 0.5 };

describe("the next attempt", () => {
  test.each([
    [1, 5 * second],
    [2, 30 * second],
    [3, 2 * minute],
    [4, 10 * minute],
    [5, 30 * minute],
    [6, 2 * hour],
    [7, 6 * hour],
    [8, 6 * hour],
    [50, 6 * hour],
  ])("after %i failed attempts comes %i ms later", (failures, delay) => {
    expect(nextAttemptAt({ ...middle, failures, firstAttemptAt: now })).toBe(now + delay);
  });

  test.each([
    [0, 0.85],
    [0.25, 0.925],
    [1, 1.15],
  ])("is spread by 15 percent: a random number of %d makes it %d times as long", (random, factor) => {
    for (const [failures, delay] of [
      [1, 5 * second],
      [7, 6 * hour],
    ] as const)
      expect(nextAttemptAt({ now, random, failures, firstAttemptAt: now })).toBe(now + delay * factor);
  });

  test.each([
    ["a wish for more than the schedule is kept to", 1, minute, minute, 1.15 * minute],
    ["a wish for less than the schedule changes nothing", 3, second, 1.7 * minute, 2.3 * minute],
    ["a wish for nothing changes nothing", 1, 0, 4.25 * second, 5.75 * second],
    ["a wish from the past changes nothing", 1, -hour, 4.25 * second, 5.75 * second],
    ["a wish for more than 6 hours is taken for 6 hours", 1, 24 * hour, 6 * hour, 6.9 * hour],
  ])("%s", (_, failures, retryAfterMs, earliest, latest) => {
    const attempt = { now, failures, firstAttemptAt: now, retryAfterMs };
    expect(nextAttemptAt({ ...attempt, random: 0 })).toBe(now + earliest);
    expect(nextAttemptAt({ ...attempt, random: 1 })).toBe(now + latest);
  });

  test("what was asked for is never undercut", () => {
    for (const random of [0, 0.3, 0.7, 1])
      expect(
        nextAttemptAt({ now, random, failures: 1, firstAttemptAt: now, retryAfterMs: hour }),
      ).toBeGreaterThanOrEqual(now + hour);
  });

  test("the last one is 72 hours after the first, whatever the schedule and the other side say", () => {
    const firstAttemptAt = now - giveUpAfterMs + minute;
    expect(nextAttemptAt({ ...middle, failures: 20, firstAttemptAt })).toBe(now + minute);
    expect(nextAttemptAt({ ...middle, failures: 20, firstAttemptAt, retryAfterMs: hour })).toBe(now + minute);
  });

  test("there is none when 72 hours have passed", () => {
    const firstAttemptAt = now - giveUpAfterMs;
    expect(nextAttemptAt({ ...middle, failures: 20, firstAttemptAt })).toBeUndefined();
    expect(nextAttemptAt({ ...middle, failures: 1, firstAttemptAt, retryAfterMs: 1 })).toBeUndefined();
  });

  test("a delivery that always fails is tried 19 times within 72 hours", () => {
    let at: number | undefined = now;
    let attempts = 0;
    while (at !== undefined && attempts < 1_000) {
      attempts += 1;
      at = nextAttemptAt({ failures: attempts, now: at, random: 0.5, firstAttemptAt: now });
    }
    expect(attempts).toBe(19);
  });
});

describe("the pause of a target", () => {
  test.each([
    [1, 5 * second],
    [2, 30 * second],
    [3, 2 * minute],
    [4, 10 * minute],
    [5, 10 * minute],
    [7, 10 * minute],
    [1_000, 10 * minute],
  ])("after %i failures in a row is %i ms", (failures, pause) => {
    expect(pausedUntil({ ...middle, failures })).toBe(now + pause);
  });

  test("is longer when the target asks for it, up to 6 hours", () => {
    expect(pausedUntil({ now, random: 0, failures: 9, retryAfterMs: hour })).toBe(now + hour);
    expect(pausedUntil({ now, random: 0, failures: 9, retryAfterMs: 48 * hour })).toBe(now + 6 * hour);
  });

  test("is spread by 15 percent, but never longer than 10 minutes", () => {
    expect(pausedUntil({ now, random: 1, failures: 3 })).toBe(now + 2.3 * minute);
    expect(pausedUntil({ now, random: 0, failures: 4 })).toBe(now + 8.5 * minute);
    expect(pausedUntil({ now, random: 1, failures: 4 })).toBe(now + 10 * minute);
  });
});

test("without the time of a first attempt there is always a next one", () => {
  expect(nextAttemptAt({ ...middle, failures: 1 })).toBe(now + 5 * second);
  expect(nextAttemptAt({ ...middle, failures: 10_000 })).toBe(now + 6 * hour);
});

test.each([
  [1, 5 * second],
  [4, 10 * minute],
  [5, 30 * minute],
  [6, hour],
  [50, hour],
])(
  "a target that refuses whoever signs in is left alone longer: the %ith time for %i ms",
  (failures, pause) => {
    expect(pausedUntil({ ...middle, failures, isPermanent: true })).toBe(now + pause);
  },
);
