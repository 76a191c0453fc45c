import { describe, expect, test } from "vitest";
import { giveUpAfterMs, nextAttemptAt, pausedUntil } from "./retry-schedule.ts";
import { dayMs, hourMs, minuteMs, secondMs } from "../../lib/durations.ts";

const now = Date.UTC(2026, 10, 5, 8);
const middle = { now, random: 0.5 };

describe("the next attempt", () => {
  test.each([
    [1, 5 * secondMs],
    [2, 30 * secondMs],
    [3, 2 * minuteMs],
    [4, 10 * minuteMs],
    [5, 30 * minuteMs],
    [6, 2 * hourMs],
    [7, 6 * hourMs],
    [8, 6 * hourMs],
    [50, 6 * hourMs],
  ])("after %i failed attempts comes %i ms later", (failures, delay) => {
    expect(nextAttemptAt({ ...middle, failures, firstAttemptAt: now })).toBe(now + delay);
  });

  test.each([
    [0, 0.85],
    [0.25, 0.925],
    [1, 1.15],
  ])("is spread by 15 percent: a random number of %d makes it %d times as long", (random, factor) => {
    for (const [failures, delay] of [
      [1, 5 * secondMs],
      [7, 6 * hourMs],
    ] as const)
      expect(nextAttemptAt({ now, random, failures, firstAttemptAt: now })).toBe(now + delay * factor);
  });

  test.each([
    ["a wish for more than the schedule is kept to", 1, minuteMs, minuteMs, 1.15 * minuteMs],
    ["a wish for less than the schedule changes nothing", 3, secondMs, 1.7 * minuteMs, 2.3 * minuteMs],
    ["a wish for nothing changes nothing", 1, 0, 4.25 * secondMs, 5.75 * secondMs],
    ["a wish from the past changes nothing", 1, -hourMs, 4.25 * secondMs, 5.75 * secondMs],
    ["a wish for more than 6 hours is taken for 6 hours", 1, dayMs, 6 * hourMs, 6.9 * hourMs],
  ])("%s", (_, failures, retryAfterMs, earliest, latest) => {
    const attempt = { now, failures, firstAttemptAt: now, retryAfterMs };
    expect(nextAttemptAt({ ...attempt, random: 0 })).toBe(now + earliest);
    expect(nextAttemptAt({ ...attempt, random: 1 })).toBe(now + latest);
  });

  test("what was asked for is never undercut", () => {
    for (const random of [0, 0.3, 0.7, 1])
      expect(
        nextAttemptAt({ now, random, failures: 1, firstAttemptAt: now, retryAfterMs: hourMs }),
      ).toBeGreaterThanOrEqual(now + hourMs);
  });

  test("the last one is 72 hours after the first, whatever the schedule and the other side say", () => {
    const firstAttemptAt = now - giveUpAfterMs + minuteMs;
    expect(nextAttemptAt({ ...middle, failures: 20, firstAttemptAt })).toBe(now + minuteMs);
    expect(nextAttemptAt({ ...middle, failures: 20, firstAttemptAt, retryAfterMs: hourMs })).toBe(
      now + minuteMs,
    );
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
    [1, 5 * secondMs],
    [2, 30 * secondMs],
    [3, 2 * minuteMs],
    [4, 10 * minuteMs],
    [5, 10 * minuteMs],
    [7, 10 * minuteMs],
    [1_000, 10 * minuteMs],
  ])("after %i failures in a row is %i ms", (failures, pause) => {
    expect(pausedUntil({ ...middle, failures })).toBe(now + pause);
  });

  test("is longer when the target asks for it, up to 6 hours", () => {
    expect(pausedUntil({ now, random: 0, failures: 9, retryAfterMs: hourMs })).toBe(now + hourMs);
    expect(pausedUntil({ now, random: 0, failures: 9, retryAfterMs: 48 * hourMs })).toBe(now + 6 * hourMs);
  });

  test("is spread by 15 percent, but never longer than 10 minutes", () => {
    expect(pausedUntil({ now, random: 1, failures: 3 })).toBe(now + 2.3 * minuteMs);
    expect(pausedUntil({ now, random: 0, failures: 4 })).toBe(now + 8.5 * minuteMs);
    expect(pausedUntil({ now, random: 1, failures: 4 })).toBe(now + 10 * minuteMs);
  });
});

test("without the time of a first attempt there is always a next one", () => {
  expect(nextAttemptAt({ ...middle, failures: 1 })).toBe(now + 5 * secondMs);
  expect(nextAttemptAt({ ...middle, failures: 10_000 })).toBe(now + 6 * hourMs);
});

test.each([
  [1, 5 * secondMs],
  [4, 10 * minuteMs],
  [5, 30 * minuteMs],
  [6, hourMs],
  [50, hourMs],
])(
  "a target that refuses whoever signs in is left alone longer: the %ith time for %i ms",
  (failures, pause) => {
    expect(pausedUntil({ ...middle, failures, isPermanent: true })).toBe(now + pause);
  },
);
