import { cpuRatio } from "../../test/support/cpu-time.ts";
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

  it.each([
    "[9007199254740993]",
    "[-9007199254740993]",
    "[340123450000000018]",
    "[1152921504606846976]",
    "[9007199254740993.5]",
    "[9007199254740993e0]",
    "[9.007199254740993E+15]",
    "[1e400]",
    "[-1e400]",
    '{"b":[0.5,1e9999],"a":{"x":1e400}}',
    `[${"9".repeat(400)}]`,
  ])("refuses %s: as a number it would be another one", (text) => {
    expect(codeOf(text)).toBe("wrongType");
    expect(() => parse(text)).toThrow(/^(\[0\]|b\[1\]) has the number .* Send it as text, in quotes\.$/);
  });

  it.each([
    "[9007199254740991,-9007199254740991,9007199254740992,340123450000000000]",
    "[33.748995400000000001,-84.387982399999996,0.1234567890123456789]",
    "[1e21,1000000000000000000000,1E+300,1e-400,2.50e2,-0,0.0]",
    '["340123450000000018","1e400",{"340123450000000018":1}]',
  ])("keeps the numbers of %s", (text) => {
    expect(parse(text)).toEqual(JSON.parse(text));
  });

  it.each([
    "[01234567890123456789]",
    "[1-2345678901234567890]",
    "[12345678901234567890x]",
    "[1e]",
    "[--1e400]",
  ])("leaves %s, which is no number, to the parse", (text) => {
    expect(codeOf(text)).toBe("notJson");
  });

  it("says where the number stands", () => {
    const text =
      '{"a":{"b":[1]},"stops":[{"x":["]}"]},\n{"stopDetails":[{"q":"\\",","palletID":340123450000000018}]}]}';
    expect(() => parse(text)).toThrow(
      "stops[1].stopDetails[0].palletID has the number 340123450000000018 (line 2), which as a number would become 340123450000000000. Send it as text, in quotes.",
    );
  });

  it.each([
    '"V\\ud800"',
    '"\\udc00"',
    '"\\udc00\\ud800"',
    '"\\ud800\\ud800\\udc00"',
    '"\\\\\\uD800x"',
    '{"a\\ud800":1}',
  ])("refuses %s: half of a character", (text) => {
    expect(codeOf(text)).toBe("notJson");
    expect(() => parse(text)).toThrow(/half a character, \\u[dD]/);
  });

  it.each(['"\\ud83d\\ude00"', '"\\\\ud800"', '"😀 \\u00e9"', '["\\\\\\\\ud800","\\uD83D\\uDE00"]'])(
    "takes %s: whole characters",
    (text) => {
      expect(parse(text)).toEqual(JSON.parse(text));
    },
  );

  it("says where the half of a character stands", () => {
    expect(() => parse('{"stops":[{"a":"ok","stopNbr":"V\\ud800"}]}')).toThrow(
      "\\ud800 in stops[0].stopNbr (line 1)",
    );
  });

  it("is linear in hostile text", () => {
    const hostile = [
      "\\".repeat(1e6),
      '"'.repeat(1e6),
      `"${'\\"'.repeat(1e6)}`,
      "{".repeat(1e6),
      '{"a":'.repeat(1e5),
      `[${"9".repeat(1e6)}]`,
      "0".repeat(1e6),
      "1.".repeat(1e6),
      "1e".repeat(1e6),
      `[1${"0".repeat(1e6)}1]`,
      `["${"\\\\ud800".repeat(1e5)}\\ud800"]`,
      `[${"[1,".repeat(20)}${'"\\u0061",'.repeat(1e5)}1e400`,
    ];
    const plain = JSON.stringify(Array(1e6).fill("a"));
    const ratio = cpuRatio(
      () => {
        for (const text of hostile) expect(codeOf(text)).not.toBe("taken");
      },
      () => expect(codeOf(plain)).toBe("taken"),
    );
    // Work that grew with the square would be thousands of times the floor.
    expect(ratio).toBeLessThan(200);
  });

  const codeWithin = (text: string, maxValues: number) => {
    try {
      parseJsonBytes(Buffer.from(text), { maxDepth: 32, maxValues });
    } catch (error) {
      if (error instanceof DropgateError) return error.code;
      throw error;
    }
    return "taken";
  };

  it.each([
    ["[]", 1],
    ["[ ]", 1],
    ["[[],[],[]]", 4],
    ['{"a":1,"b":[true,null],"c":{}}', 6],
    ['{"a,b":"[1,2,3]","c":"\\\\",",":","}', 4],
    ['[[[1]],"\\u0041,",-1.5e3, {"a" : { } }]', 8],
    ["1", 1],
    ['"a,b"', 1],
  ])("finds the values of %s to be %d", (text, count) => {
    expect([codeWithin(text, count), codeWithin(text, count - 1)]).toEqual(["taken", "tooLarge"]);
  });

  it("counts before anything is built: also what is no JSON, or has a key twice, is over its limit first", () => {
    expect(codeWithin(`[${"[],".repeat(1_000)}`, 100)).toBe("tooLarge");
    expect(codeWithin(`{"a":1,"a":[${"1,".repeat(1_000)}1]}`, 100)).toBe("tooLarge");
  });
});
