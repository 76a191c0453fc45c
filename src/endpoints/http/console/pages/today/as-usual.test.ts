import { expect, test } from "vitest";
import { usualText } from "./as-usual.ts";

test.each([
  [0, 0, "as usual"],
  [9, 0, "as usual"],
  [10, 0, "none then"],
  [0, 9, "as usual"],
  [0, 12, "none yet"],
  [119, 100, "as usual"],
  [120, 100, "20 % more than usual"],
  [200, 100, "100 % more than usual"],
  [320, 100, "3.2 times as many as usual"],
  [81, 100, "as usual"],
  [40, 100, "60 % fewer than usual"],
  [1_150, 1_000, "as usual"],
])("%i files beside %i a week ago are %s", (today, before, told) => {
  expect(usualText(today, before)).toBe(told);
});
