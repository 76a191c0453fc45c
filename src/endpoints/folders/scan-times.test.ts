import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ScanTimes } from "./scan-times.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date", "performance"], now: 1_000 }));
afterEach(() => void vi.useRealTimers());

test("a folder rests while it is scanned, and five times as long afterwards", () => {
  const times = new ScanTimes({ now: () => Date.now() });
  times.begin();
  expect([times.isResting, times.scanningSince]).toEqual([true, 1_000]);
  vi.advanceTimersByTime(100);
  times.looked();
  times.end();
  expect([times.isResting, times.scanningSince, times.lookedAt]).toEqual([true, undefined, 1_100]);
  vi.advanceTimersByTime(500);
  expect(times.isResting).toBe(false);
});

test("a look whether a scan is due is shown as long as it has no answer, and keeps no other from being asked for", () => {
  const times = new ScanTimes({ now: () => Date.now() });
  const begunMs = times.beginLook();
  vi.advanceTimersByTime(100);
  expect([times.isResting, times.scanningSince]).toEqual([false, 1_000]);
  times.endLook(begunMs);
  expect([times.isResting, times.scanningSince]).toEqual([true, undefined]);
  vi.advanceTimersByTime(500);
  expect(times.isResting).toBe(false);
});
