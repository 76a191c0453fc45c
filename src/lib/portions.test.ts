import { expect, test } from "vitest";
import { portionsOf } from "./portions.ts";

test("portions have all items once, in their order, and none is empty or too large", () => {
  expect([...portionsOf([1, 2, 3, 4, 5], 2)]).toEqual([[1, 2], [3, 4], [5]]);
  expect([...portionsOf([1, 2], 2)]).toEqual([[1, 2]]);
  expect([...portionsOf([], 2)]).toEqual([]);
});
