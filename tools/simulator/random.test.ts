import { expect, test } from "vitest";
import { createRandom } from "./random.ts";

function first(count: number, ...seed: [number, ...number[]]): number[] {
  const random = createRandom(...seed);
  return Array.from({ length: count }, () => random.next());
}

test("the same seed and part give the same numbers, others give others", () => {
  expect(first(5, 1, 2)).toEqual(first(5, 1, 2));
  const firsts = [0, 1, 2, 3].flatMap((seed) => [0, 1, 2, 3].map((part) => first(1, seed, part)[0]));
  expect(new Set(firsts).size).toBe(16);
});

test("numbers are spread evenly from 0 to below 1", () => {
  const counts = new Array<number>(10).fill(0);
  for (const number of first(10_000, 7))
    counts[Math.floor(number * 10)] = (counts[Math.floor(number * 10)] ?? 0) + 1;
  for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(150);
});

test("whole numbers and picks reach both ends", () => {
  const random = createRandom(3);
  const rolls = Array.from({ length: 200 }, () => random.whole(1, 6));
  expect([Math.min(...rolls), Math.max(...rolls)]).toEqual([1, 6]);
  const picks = new Set(Array.from({ length: 100 }, () => random.pick(["a", "b", "c"])));
  expect([...picks].sort()).toEqual(["a", "b", "c"]);
});
