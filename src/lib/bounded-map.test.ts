import { expect, test } from "vitest";
import { type BoundedMap, createBoundedMap, createSizedMap } from "./bounded-map.ts";

function keysIn(map: BoundedMap<unknown>, keys: string): string {
  return [...keys].filter((key) => map.has(key)).join("");
}

test("the newest half of the values stays, and there are never more than all", () => {
  const map = createBoundedMap<number>(4);
  const letters = "abcdefghij";
  for (const [index, key] of [...letters].entries()) {
    map.set(key, index);
    const kept = keysIn(map, letters);
    expect(kept.length).toBeLessThanOrEqual(4);
    expect(kept).toContain(letters.slice(Math.max(0, index - 1), index + 1));
  }
});

test("a value that is read goes with its age, one that is renewed counts as set anew", () => {
  const map = createBoundedMap<number>(4);
  for (const key of "ab") map.set(key, 1);
  map.set("c", 1);
  expect([map.get("a"), map.renew("b"), map.renew("x")]).toEqual([1, 1, undefined]);
  expect(keysIn(map, "abc")).toBe("bc");
});

test("a deleted value is gone, whether it was set lately or long ago", () => {
  const map = createBoundedMap<number>(4);
  for (const key of "abc") map.set(key, 1);
  for (const key of "ac") map.delete(key);
  expect(keysIn(map, "abc")).toBe("b");
});

test("sizes are bounded together: what would be too much turns the oldest out", () => {
  const map = createSizedMap<string>({ maxKeys: 100, maxSize: 20, sizeOf: (text) => text.length });
  for (const key of "abcd") map.set(key, "xxxxx");
  expect(keysIn(map, "abcd")).toBe("abcd");
  map.set("e", "xxxxx");
  expect(keysIn(map, "abcde")).toBe("cde");
});

test("a value set again and one that was deleted take their size once, or no more", () => {
  const map = createSizedMap<string>({ maxKeys: 100, maxSize: 20, sizeOf: (text) => text.length });
  for (let round = 0; round < 9; round += 1) map.set("a", "xxxxx");
  map.set("b", "xxxxx");
  map.delete("b");
  map.set("c", "xxxxx");
  for (const key of "de") map.set(key, "xxxxx");
  expect(keysIn(map, "abcde")).toBe("acde");
});

test("what is larger than half of all is not kept, and neither is what it was to replace", () => {
  const map = createSizedMap<string>({ maxKeys: 100, maxSize: 20, sizeOf: (text) => text.length });
  map.set("a", "old");
  map.set("a", "x".repeat(11));
  expect(map.get("a")).toBeUndefined();
});
