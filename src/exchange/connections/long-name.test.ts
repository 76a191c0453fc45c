import { expect, test } from "vitest";
import { longNameOf } from "./long-name.ts";

const now = Date.UTC(2026, 10, 5, 8) / 1_000;
const day = 24 * 3_600;

function lineOf(modifiedSeconds: number, more: { isDirectory?: boolean; mode?: number; size?: number } = {}) {
  const attributes = { isDirectory: false, size: 1_234, mode: 0o640, ...more };
  return longNameOf(
    { name: "a b.xml", attributes: { ...attributes, modifiedSeconds, accessedSeconds: 0 } },
    now,
  );
}

test("an entry is told as ls -l tells it", () => {
  expect(lineOf(now - 60)).toBe("-rw-r-----    1 dropgate dropgate     1234 Nov  5 07:59 a b.xml");
  expect(lineOf(now - 60, { isDirectory: true, mode: 0o751, size: 0 })).toBe(
    "drwxr-x--x    1 dropgate dropgate        0 Nov  5 07:59 a b.xml",
  );
});

test("a time of more than half a year ago, or more than an hour ahead, is told with its year", () => {
  const timeIn = (line: string) => line.slice(43, 55);
  expect(timeIn(lineOf(now - 182 * day))).toBe("May  7  2026");
  expect(timeIn(lineOf(now - 182 * day + 1))).toBe("May  7 08:00");
  expect(timeIn(lineOf(now + 3_600))).toBe("Nov  5 09:00");
  expect(timeIn(lineOf(now + 3_601))).toBe("Nov  5  2026");
  expect(timeIn(lineOf(Date.UTC(2025, 11, 24) / 1_000))).toBe("Dec 24  2025");
});
