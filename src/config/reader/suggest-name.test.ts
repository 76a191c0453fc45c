import { expect, test } from "vitest";
import { editDistance, suggestName } from "./suggest-name.ts";

test.each([
  ["", "", 0],
  ["", "abc", 3],
  ["abc", "", 3],
  ["kitten", "sitting", 3],
  ["prot", "port", 1],
  ["port", "port", 0],
  ["ports", "port", 1],
])("from `%s` to `%s` it is %d edits", (from, to, distance) => {
  expect(editDistance(from, to)).toBe(distance);
});

test.each([
  ["settelMs", "settleMs"],
  ["SETTLEMS", "settleMs"],
  ["scan_ms", "scanMs"],
  ["frobnicate", undefined],
])("`%s` suggests %s", (typed, expected) => {
  expect(suggestName(typed, ["names", "settleMs", "scanMs"])).toBe(expected);
});
