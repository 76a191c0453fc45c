import { expect, test } from "vitest";
import { nextLineOf } from "./file-content-section.ts";
import { linesOfPage } from "./file-view.ts";

function linesFrom(first: number, last: number) {
  return Array.from({ length: last - first + 1 }, (_, index) => {
    return { number: first + index, text: "x", isCut: false };
  });
}

test("the next page begins behind a whole one, wherever lines with faults are shown as well", () => {
  const lines = [...linesFrom(1, linesOfPage), ...linesFrom(900, 906)];
  expect(nextLineOf({ lines, isBudgetSpent: false })).toBe(linesOfPage + 1);
  expect(nextLineOf({ lines: linesFrom(801, 1_200), isBudgetSpent: false })).toBe(1_201);
});

test("behind lines that are too long for a page none is left out: it begins at the last one, which may be cut", () => {
  expect(nextLineOf({ lines: linesFrom(401, 496), isBudgetSpent: true })).toBe(496);
  const withFaults = [...linesFrom(1, 96), ...linesFrom(700, 706)];
  expect(nextLineOf({ lines: withFaults, isBudgetSpent: true })).toBe(96);
  expect(nextLineOf({ lines: linesFrom(7, 7), isBudgetSpent: true })).toBe(8);
});
