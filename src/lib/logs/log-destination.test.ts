import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type GatheredLines, gatherLines } from "./log-destination.ts";

let written: string[];
let flushes: number;
let lines: GatheredLines;

beforeEach(() => {
  vi.useFakeTimers();
  written = [];
  flushes = 0;
  lines = gatherLines({
    write: (text) => written.push(text),
    flushSync: () => {
      flushes += 1;
    },
  });
});

afterEach(() => void vi.useRealTimers());

test("a line after a pause is written at once", () => {
  lines.write("a\n");
  expect(written).toEqual(["a\n"]);
  vi.advanceTimersByTime(1_000);
  lines.write("b\n");
  expect(written).toEqual(["a\n", "b\n"]);
});

test("lines that follow closely are written together, in order, as long as they come", () => {
  for (const line of ["a\n", "b\n", "c\n"]) lines.write(line);
  expect(written).toEqual(["a\n"]);
  vi.advanceTimersByTime(20);
  expect(written).toEqual(["a\n", "b\nc\n"]);
  lines.write("d\n");
  expect(written).toHaveLength(2);
  vi.advanceTimersByTime(20);
  expect(written.join("")).toBe("a\nb\nc\nd\n");
});

test("no more than 64 KiB are gathered", () => {
  lines.write("a\n");
  for (let line = 0; line < 70; line += 1) lines.write(`${"x".repeat(1_000)}\n`);
  expect(written).toHaveLength(2);
  vi.advanceTimersByTime(20);
  expect(written.join("")).toHaveLength(2 + 70 * 1_001);
});

test("a flush writes what waits, once", () => {
  lines.write("a\n");
  lines.write("b\n");
  lines.flushSync();
  expect(written).toEqual(["a\n", "b\n"]);
  expect(flushes).toBe(1);
  vi.advanceTimersByTime(1_000);
  expect(written).toHaveLength(2);
});
