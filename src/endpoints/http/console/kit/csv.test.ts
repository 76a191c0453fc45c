import { expect, test } from "vitest";
import { csvText } from "./csv.ts";

test("cells are quoted, and lines end as RFC 4180 says", () => {
  const rows = [
    ['say "hi"', "a,b", 7, null],
    ["two\r\nlines", "ä", -1, ""],
  ];
  expect(csvText([["a", "b", "c", "d"], ...rows])).toBe(
    '"a","b","c","d"\r\n"say ""hi""","a,b",7,""\r\n"two\r\nlines","ä",-1,""\r\n',
  );
});

test.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])("%j is a text and no formula", (text) => {
  expect(csvText([[text, `x${text}`]])).toBe(`"'${text}","x${text}"\r\n`);
});
