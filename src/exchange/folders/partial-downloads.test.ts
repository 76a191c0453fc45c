import { statSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ByteRanges } from "../byte-ranges.ts";
import { noBytes, PartialDownloads } from "./download.ts";

function rangesOf(list: readonly (readonly [number, number])[], maxRanges = 100): ByteRanges {
  const ranges = new ByteRanges(maxRanges);
  for (const [from, to] of list) ranges.add(from, to);
  return ranges;
}

describe("ranges of bytes", () => {
  test.each([
    [[], 0, true],
    [[], 1, false],
    [[[0, 10]], 10, true],
    [[[0, 10]], 11, false],
    [[[1, 10]], 10, false],
    [
      [
        [5, 10],
        [0, 5],
      ],
      10,
      true,
    ],
    [
      [
        [6, 10],
        [0, 5],
      ],
      10,
      false,
    ],
    [
      [
        [6, 10],
        [0, 3],
        [3, 5],
        [2, 7],
      ],
      10,
      true,
    ],
    [
      [
        [2, 3],
        [4, 5],
        [6, 7],
        [0, 10],
      ],
      10,
      true,
    ],
    [
      [
        [0, 5],
        [5, 5],
        [9, 4],
      ],
      5,
      true,
    ],
  ] as const)("%j cover %i bytes: %s", (list, size, isCovered) => {
    expect(rangesOf(list).covers(size)).toBe(isCovered);
  });

  test("are no more than they may be; what joins them is noted all the same", () => {
    const ranges = rangesOf(
      [
        [0, 1],
        [2, 3],
        [4, 5],
      ],
      2,
    );
    ranges.add(1, 2);
    expect([ranges.covers(3), ranges.covers(5)]).toEqual([true, false]);
    ranges.add(3, 5);
    expect(ranges.covers(5)).toBe(true);
  });
});

test("of more than a thousand files that were begun the first is forgotten", () => {
  const downloads = new PartialDownloads();
  const stats = Object.assign(statSync("/"), { size: 2 });
  const read = (path: string, from: number) => {
    const ranges = noBytes();
    ranges.add(from, from + 1);
    return downloads.add({ userId: 1, path, stats, ranges, isBroken: false });
  };
  for (let file = 0; file <= 1_000; file += 1) expect(read(`/${file}`, 0)).toBe(false);
  expect([read("/0", 1), read("/2", 1), read("/1000", 1)]).toEqual([false, true, true]);
});
