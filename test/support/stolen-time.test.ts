/** Time that the host of a virtual machine has taken from its processors. */
import { expect, onTestFinished, test, vi } from "vitest";
import { readSample, StolenTime } from "./stolen-time.ts";

test("a sample has what was stolen of all, and no guest twice", () => {
  const text = "cpu  100 1 20 300 4 0 5 70 11 12\ncpu0 50 0 10 150 2 0 2 35 5 6\n";
  expect(readSample(text, 9)).toEqual({ at: 9, stolen: 70, all: 500 });
});

test("time is stolen as far as processors were, in each part of it", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const samples = [
    { at: 1_000, stolen: 0, all: 0 },
    { at: 1_100, stolen: 5, all: 20 },
    { at: 1_200, stolen: 5, all: 40 },
    { at: 1_300, stolen: 15, all: 60 },
  ];
  const stolen = new StolenTime(() => samples.shift() ?? { at: 1_400, stolen: 15, all: 80 });
  vi.advanceTimersByTime(300);
  expect(stolen.betweenMs(1_000, 1_300)).toBeCloseTo(75);
  expect(stolen.betweenMs(1_050, 1_250)).toBeCloseTo(12.5 + 25);
  expect(stolen.betweenMs(1_100, 1_200)).toBe(0);
  expect(stolen.betweenMs(2_000, 3_000)).toBe(0);
  expect(stolen.share).toBeCloseTo(75 / 400);
  stolen.end();
});
