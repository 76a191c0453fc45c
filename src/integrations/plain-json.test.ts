import jsonata from "jsonata";
import { expect, test } from "vitest";
import { toPlainJson } from "./plain-json.ts";

const limits = { maxBytes: 1_000, maxDepth: 8 };

test("plain values become their text; members that are undefined are left out, marks of jsonata too", async () => {
  const value: unknown = await jsonata(
    '{ "a": [1, 2][$ > 0], "b": null, "c": nothing, "d": "é\\n" }',
  ).evaluate({});
  expect(toPlainJson(value, limits)).toEqual({ kind: "text", text: '{"a":[1,2],"b":null,"d":"é\\n"}' });
});

test.each([
  ['{ "a": [{ "b": $sum }] }', "a[0].b is a function"],
  ['{ "a": function($x) { $x } }', "a is a function"],
  ['{ "a": /x/ }', "a is a function"],
  ['{ "a": { "b": 1 / 0 } }', "a.b is Infinity, which is no number of JSON"],
  ['{ "__proto__": { "isAdmin": true } }', "__proto__ is a key that is not taken"],
  ["nothing", "the result is nothing"],
  ["$sum", "the result is a function"],
])("%s is no plain JSON", async (expression, message) => {
  const value: unknown = await jsonata(expression).evaluate({});
  expect(toPlainJson(value, limits)).toEqual({ kind: "notPlain", message });
});

test("half a character is refused, as a value and as a key", () => {
  expect(toPlainJson({ a: "\ud83d" }, limits).kind).toBe("notPlain");
  expect(toPlainJson({ "\ud83d": 1 }, limits).kind).toBe("notPlain");
  expect(toPlainJson({ a: "\ud83d\ude9a" }, limits).kind).toBe("text");
});

test("the size counts in bytes, and depth in levels", () => {
  expect(toPlainJson("x".repeat(998), limits).kind).toBe("text");
  expect(toPlainJson("é".repeat(998), limits)).toEqual({
    kind: "tooLarge",
    message: "the document is larger than its limit of 1000 bytes",
  });
  expect(toPlainJson([[[[[[[[]]]]]]]], limits).kind).toBe("text");
  expect(toPlainJson([[[[[[[[[]]]]]]]]], limits)).toEqual({
    kind: "tooLarge",
    message: "the document is nested deeper than 8 levels",
  });
});

test("one value used in many places is not written out before the limit says no", () => {
  let value: unknown = "abc";
  for (let level = 0; level < 60; level += 1) value = [value, value];
  expect(toPlainJson(value, { maxBytes: 100_000, maxDepth: 100 }).kind).toBe("tooLarge");
});

test("a circle is over the limit of levels, and no endless walk", () => {
  const value: Record<string, unknown> = {};
  value["self"] = value;
  expect(toPlainJson(value, limits).kind).toBe("tooLarge");
});
