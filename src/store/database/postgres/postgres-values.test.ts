import { describe, expect, it } from "vitest";
import { arrayText } from "./postgres-values.ts";

describe("the values of an array", () => {
  it("are texts with marks before quotes and backslashes, numbers, and nulls", () => {
    expect(arrayText(["a", "", "NULL", 'say "b"', "c\\d", "{e,f}", "é\n"])).toBe(
      '{"a","","NULL","say \\"b\\"","c\\\\d","{e,f}","é\n"}',
    );
    expect(arrayText([1, -2.5, 1e21, null, undefined, 40.7127837])).toBe(
      "{1,-2.5,1e+21,NULL,NULL,40.7127837}",
    );
    expect(arrayText([])).toBe("{}");
  });

  it("of other kinds are left to the driver", () => {
    expect(arrayText(["a", Buffer.from("b")])).toBeUndefined();
    expect(arrayText([[1], [2]])).toBeUndefined();
    expect(arrayText([true])).toBeUndefined();
  });
});
