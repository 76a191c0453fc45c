import { expect, test } from "vitest";
import { riseOf, type Sample, thirdsOf, verdictsOf } from "./soak-samples.ts";

function samplesOf(residentAt: (minute: number) => number): Sample[] {
  const rest = { heapMb: 50, buffersMb: 5, descriptors: 40, threads: 20, walMb: 8, filesDone: 0 };
  return Array.from({ length: 61 }, (_, minute) => ({ minute, residentMb: residentAt(minute), ...rest }));
}

const isLevel = (samples: Sample[]) =>
  verdictsOf([], samples).find(({ figure }) => figure === "residentMb")?.isLevel;

test("a steady rise is told by its size, and is not level", () => {
  const rising = samplesOf((minute) => 200 + 0.9 * minute);
  expect(riseOf(rising, "residentMb")).toBeCloseTo(0.9);
  expect(isLevel(rising)).toBe(false);
});

test("what fills up at the beginning and then swings is level", () => {
  expect(isLevel(samplesOf((minute) => 200 + 40 * (1 - Math.exp(-minute / 8)) + 3 * (minute % 2)))).toBe(
    true,
  );
});

test("what fell at first and rises at the end is not level", () => {
  expect(isLevel(samplesOf((minute) => (minute < 40 ? 250 - minute : 210 + (minute - 40))))).toBe(false);
});

test("each sample is in one third", () => {
  const samples = samplesOf(() => 1);
  const thirds = thirdsOf(samples);
  expect(thirds.flat()).toEqual(samples);
  expect(thirds.map(({ length }) => length)).toEqual([20, 20, 21]);
});

test("memory is judged by what is left after collections, descriptors by all samples", () => {
  const level = samplesOf(() => 200);
  const rising = samplesOf((minute) => 200 + minute);
  const faulty = (samples: Sample[], collected: Sample[]) =>
    verdictsOf(samples, collected)
      .filter((verdict) => !verdict.isLevel)
      .map(({ figure }) => figure);
  expect(faulty(rising, level)).toEqual([]);
  expect(faulty(level, rising)).toEqual(["residentMb"]);
  const leaking = level.map((sample) => ({ ...sample, descriptors: 40 + sample.minute }));
  expect(faulty(leaking, level)).toEqual(["descriptors"]);
});
