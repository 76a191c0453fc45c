import { expect, test } from "vitest";
import { HeldLines } from "./held-lines.ts";

test("one delivery of a line is held at a time, and others of it are remembered as wanted", () => {
  const lines = new HeldLines();
  expect(lines.take("S1")).toBe(true);
  expect(lines.take("S2")).toBe(true);
  expect(lines.take("S1")).toBe(false);
  expect(lines.release("S2")).toBe(false);
  expect(lines.release("S1")).toBe(true);
  expect(lines.take("S1")).toBe(true);
  expect(lines.release("S1")).toBe(false);
});
