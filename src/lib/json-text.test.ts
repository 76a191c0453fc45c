import { describe, expect, it } from "vitest";
import { DropgateError } from "./errors.ts";
import { parseJsonBytes } from "./json-text.ts";

const parse = (text: string, maxDepth = 32) => parseJsonBytes(Buffer.from(text), { maxDepth });

function codeOf(text: string, maxDepth?: number): string {
  try {
    parse(text, maxDepth);
  } catch (error) {
    if (error instanceof DropgateError) return error.code;
    throw error;
  }
  return "taken";
}

describe("parseJsonBytes", () => {
  it.each([
    '{"a":"x\\\\","b":"\\"a\\":1","c":[",","{","}"]}',
    '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}',
    '["a","a","a"]',
    '{"a":["b","a",{"a":0}],"b":"a"}',
    '  {"a" : 1 , "b":\n2}',
    '"text"',
    "1.5e3",
    '{"":1," ":2}',
  ])("reads %s as JSON.parse does", (text) => {
    expect(parse(text)).toEqual(JSON.parse(text));
  });

  it.each([
    '{"a":1,"a":1}',
    '{"a\\\\":1,"a\\u005c":2}',
    '{"x":[{"a":1,"b":{},"a":2}]}',
    '{"a":[1,2],"b":{"a":1},"a":3}',
  ])("refuses %s: a key stands twice", (text) => {
    expect(codeOf(text)).toBe("notJson");
    expect(() => parse(text)).toThrow(/twice in one object \(line 1\)/);
  });

  it("names the line of a key that stands twice", () => {
    expect(() => parse('{"a":1,\n"b":2,\n"a":3}')).toThrow('the key "a" twice in one object (line 3)');
  });

  it("counts arrays and objects as levels", () => {
    expect(codeOf('[{"a":[1]}]', 3)).toBe("taken");
    expect(codeOf('[{"a":[1]}]', 2)).toBe("tooLarge");
    expect(codeOf('["[[[[[["]', 1)).toBe("taken");
  });

  it("is linear in hostile text", () => {
    const startedAt = performance.now();
    for (const text of [
      "\\".repeat(1e6),
      '"'.repeat(1e6),
      `"${'\\"'.repeat(1e6)}`,
      "{".repeat(1e6),
      '{"a":'.repeat(1e5),
    ]) {
      expect(codeOf(text)).not.toBe("taken");
    }
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});
