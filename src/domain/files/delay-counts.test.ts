import { expect, test } from "vitest";
import {
  addDelays,
  type DelayCounts,
  delayClassOf,
  delayQuantile,
  delaysFromText,
  delaysToText,
} from "./delay-counts.ts";

function countsOf(...lengths: readonly number[]): DelayCounts {
  const counts = new Map<number, number>();
  for (const ms of lengths) counts.set(delayClassOf(ms), (counts.get(delayClassOf(ms)) ?? 0) + 1);
  return counts;
}

test.each([
  [-5, 0],
  [0, 0],
  [1, 0],
  [1.2, 1],
  [2, 2],
  [2.1, 3],
  [1024, 20],
  [Number.NaN, 0],
  [Number.MAX_VALUE, 49],
])("%d ms are of class %i", (ms, delayClass) => {
  expect(delayClassOf(ms)).toBe(delayClass);
});

test("a percentile is right to a class", () => {
  const lengths = Array.from({ length: 1_000 }, (_, index) => index + 1);
  const counts = countsOf(...lengths);
  for (const share of [0.01, 0.5, 0.9, 0.99, 1]) {
    const exact = share * 1_000;
    const told = delayQuantile(counts, share) ?? Number.NaN;
    expect(Math.abs(told - exact) / exact).toBeLessThan(0.42);
  }
  expect(delayQuantile(counts, 0.5)).toBeGreaterThan(400);
  expect(delayQuantile(counts, 0.5)).toBeLessThan(600);
});

test("nothing is told of no files", () => {
  expect(delayQuantile(new Map(), 0.99)).toBeUndefined();
});

test("counts of two minutes add up as if they were one", () => {
  const both = addDelays(countsOf(3, 40, 41), countsOf(40, 5_000));
  expect(both).toEqual(countsOf(3, 40, 41, 40, 5_000));
});

test("a text of counts gives them back", () => {
  const counts = countsOf(900, 3, 3, 40);
  expect(delaysToText(counts)).toBe("4:2 11:1 20:1");
  expect(delaysFromText(delaysToText(counts))).toEqual(counts);
  expect(delaysFromText("")).toEqual(new Map());
});
