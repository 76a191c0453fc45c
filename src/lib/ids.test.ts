import { expect, test } from "vitest";
import { newRequestId } from "./ids.ts";

test("ids of requests have nothing in common and do not count", () => {
  const ids = Array.from({ length: 2_000 }, newRequestId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.every((id) => /^[\w-]{12}$/.test(id))).toBe(true);
  const beginnings = new Set(ids.map((id) => id.slice(0, 4)));
  const ends = new Set(ids.map((id) => id.slice(-4)));
  expect(Math.min(beginnings.size, ends.size)).toBeGreaterThan(1_900);
});
