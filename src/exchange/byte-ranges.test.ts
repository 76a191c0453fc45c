import { describe, expect, test } from "vitest";
import { ByteRanges } from "./byte-ranges.ts";

function rangesOf(...ranges: readonly (readonly [number, number])[]): ByteRanges {
  const all = new ByteRanges(64);
  for (const [from, to] of ranges) all.add(from, to);
  return all;
}

/** Which of the first 30 bytes are among them. */
function bytesIn(ranges: ByteRanges): string {
  const copy = new ByteRanges(64);
  copy.addAll(ranges);
  let text = "";
  for (let at = 0; at < 30; at += 1) {
    copy.keep(at, Number.MAX_SAFE_INTEGER);
    text += copy.first?.[0] === at ? "#" : ".";
  }
  return text.replace(/\.+$/, "");
}

describe("ranges of bytes", () => {
  test("that touch or lie over one another are one; others stay apart, in order", () => {
    expect(bytesIn(rangesOf([6, 8], [0, 2], [3, 5]))).toBe("##.##.##");
    expect(rangesOf([6, 8], [0, 2]).first).toEqual([0, 2]);
    expect(rangesOf([0, 2], [2, 4]).first).toEqual([0, 4]);
    expect(rangesOf([2, 4], [0, 2]).first).toEqual([0, 4]);
    expect(rangesOf([0, 2], [3, 5]).first).toEqual([0, 2]);
    expect(rangesOf([0, 9], [3, 5]).first).toEqual([0, 9]);
    expect(rangesOf([1, 3], [4, 6], [8, 9], [2, 5]).first).toEqual([1, 6]);
  });

  test("of nothing are none", () => {
    for (const empty of [rangesOf(), rangesOf([3, 3]), rangesOf([4, 3])])
      expect([empty.first, empty.end, empty.covers(1)]).toEqual([undefined, 0, false]);
    expect(rangesOf().covers(0)).toBe(true);
  });

  test("end behind the last, and cover a file when they begin with it and have no hole", () => {
    expect([rangesOf([0, 4]).end, rangesOf([0, 4], [6, 8]).end]).toEqual([4, 8]);
    expect([3, 4, 5].map((size) => rangesOf([0, 4]).covers(size))).toEqual([true, true, false]);
    expect(rangesOf([1, 4]).covers(3)).toBe(false);
    expect(rangesOf([0, 4], [6, 8]).covers(8)).toBe(false);
  });

  test("are cut to what lies between two places", () => {
    const ranges = rangesOf([0, 4], [6, 8], [9, 12]);
    ranges.keep(2, 10);
    expect(bytesIn(ranges)).toBe("..##..##.#");
    ranges.keep(4, 9);
    expect(ranges.first).toEqual([6, 8]);
    ranges.keep(8, 20);
    expect(ranges.first).toBeUndefined();
  });

  test("are no more than were asked for, unless one closes a gap", () => {
    const ranges = new ByteRanges(2);
    expect([ranges.add(0, 1), ranges.add(4, 5), ranges.add(8, 9)]).toEqual([true, true, false]);
    expect([ranges.add(1, 2), ranges.add(2, 4), ranges.add(8, 9)]).toEqual([true, true, true]);
    expect(ranges.end).toBe(9);
  });
});
