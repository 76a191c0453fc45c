import { getHeapStatistics } from "node:v8";
import { expect, test } from "vitest";
import { growthPercentFor, steerHeapGrowth } from "./heap-growth.ts";

const megabyte = 1024 * 1024;

test.each([
  [20 * megabyte, 160],
  [64 * megabyte, 50],
  [128 * megabyte, 25],
  [1_000 * megabyte, 25],
])("a heap of %i bytes may grow by %i percent", (usedBytes, percent) => {
  expect(growthPercentFor(usedBytes)).toBe(percent);
});

test("the growth is taken over by the running engine, and the process is not kept alive by it", () => {
  const growth = steerHeapGrowth();
  // The engine refuses flags that it does not know with an exception or the end of the process.
  expect(getHeapStatistics().used_heap_size).toBeGreaterThan(0);
  growth.stop();
});
