import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { sleepAtLeast } from "./sleep.ts";

/** How much later than the timers the clock is that is asked. */
const timersAheadMs = 0.7;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test("a timer that is early by a part of a millisecond does not end it early", async () => {
  const now = performance.now.bind(performance);
  const beginMs = now();
  vi.spyOn(performance, "now").mockImplementation(() => (now() === beginMs ? now() : now() - timersAheadMs));
  const sleeping = sleepAtLeast(20, new AbortController().signal).then(() => performance.now());
  await vi.advanceTimersByTimeAsync(30);
  expect((await sleeping) - beginMs).toBeGreaterThanOrEqual(20);
});

test("an abort ends it at once", async () => {
  const aborted = new AbortController();
  const sleeping = sleepAtLeast(20, aborted.signal).then(() => performance.now());
  const beginMs = performance.now();
  aborted.abort();
  expect(await sleeping).toBe(beginMs);
});
