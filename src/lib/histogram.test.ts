import { expect, it } from "vitest";
import { Histogram } from "./histogram.ts";

it("a value counts for each bound that it is not above, and for the total and the sum", () => {
  const histogram = new Histogram([0.5, 1, 2]);
  for (const value of [0.25, 0.5, 0.75, 2, 8]) histogram.observe(value);
  expect(histogram.cumulated()).toEqual([2, 3, 4, 5]);
  expect(histogram.sum).toBe(11.5);
});

it("a histogram without values has all its bounds at 0", () => {
  expect(new Histogram([1, 2]).cumulated()).toEqual([0, 0, 0]);
});
