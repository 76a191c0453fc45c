import { describe, expect, it } from "vitest";
import { arrayParameter } from "./postgres-values.ts";

describe("an array of texts", () => {
  it("goes as bytes: a header, and each text behind its length", () => {
    const bytes = arrayParameter(['"é"', null, "", "\\"], "text") as Buffer;
    const fields = (...values: number[]) => Buffer.concat(values.map((value) => int32(value)));
    expect(bytes).toEqual(
      Buffer.concat([
        fields(1, 1, 25, 4, 1),
        ...[fields(4), Buffer.from('"é"'), fields(-1), fields(0), fields(1), Buffer.from("\\")],
      ]),
    );
    expect((arrayParameter(["a"], "text") as Buffer).readInt32BE(4)).toBe(0);
  });

  it("is left to the driver when there are other values in it, or the server takes them for something else", () => {
    for (const values of [["a", 1], [Buffer.from("a")], [true]])
      expect(arrayParameter(values, "text")).toBe(values);
    const numbers = [1, null];
    expect(arrayParameter(numbers, "bigint")).toBe(numbers);
    const texts = ["1"];
    expect(arrayParameter(texts, "bigint")).toBe(texts);
  });
});

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
