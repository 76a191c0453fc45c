import { expect, test } from "vitest";
import { BoundedMap } from "./bounded-map.ts";

function keysIn(map: BoundedMap<unknown>, keys: string): string {
  return [...keys].filter((key) => map.has(key)).join("");
}

test("the newest half of the values stays, and there are never more than all", () => {
  const map = new BoundedMap<number>(4);
  const letters = "abcdefghij";
  for (const [index, key] of [...letters].entries()) {
    map.set(key, index);
    const kept = keysIn(map, letters);
    expect(kept.length).toBeLessThanOrEqual(4);
    expect(kept).toContain(letters.slice(Math.max(0, index - 1), index + 1));
  }
});

test("a value that is read goes with its age, one that is renewed counts as set anew", () => {
  const map = new BoundedMap<number>(4);
  for (const key of "ab") map.set(key, 1);
  map.set("c", 1);
  expect([map.get("a"), map.renew("b"), map.renew("x")]).toEqual([1, 1, undefined]);
  expect(keysIn(map, "abc")).toBe("bc");
});

test("a deleted value is gone, whether it was set lately or long ago", () => {
  const map = new BoundedMap<number>(4);
  for (const key of "abc") map.set(key, 1);
  for (const key of "ac") map.delete(key);
  expect(keysIn(map, "abc")).toBe("b");
});
