import { describe, expect, it } from "vitest";
import { selectPart } from "./byte-range.ts";

const file = { size: 100, etag: '"abc"' };
const whole = { kind: "whole" };
const unsatisfiable = { kind: "unsatisfiable" };
const part = (start: number, length: number) => ({ kind: "part", start, length });

describe("a range", () => {
  it.each([
    ["bytes=0-0", part(0, 1)],
    ["bytes=10-19", part(10, 10)],
    ["bytes=90-", part(90, 10)],
    ["bytes=90-1000", part(90, 10)],
    ["bytes=-10", part(90, 10)],
    ["bytes=-1000", part(0, 100)],
    ["Bytes = 1-2 ", part(1, 2)],
    [`bytes=0-${"9".repeat(400)}`, part(0, 100)],
    ["bytes=100-", unsatisfiable],
    [`bytes=${"9".repeat(400)}-`, unsatisfiable],
    ["bytes=-0", unsatisfiable],
    ["bytes=5-4", whole],
    ["bytes=0-1,5-6", whole],
    ["bytes=-", whole],
    ["bytes=a-b", whole],
    ["lines=0-1", whole],
    ["bytes=--1", whole],
    ["", whole],
  ])("%s selects what the standard says", (range, expected) => {
    expect(selectPart("GET", { range }, file)).toEqual(expected);
  });

  it("of an empty file is never satisfiable", () => {
    for (const range of ["bytes=0-", "bytes=-5"])
      expect(selectPart("GET", { range }, { ...file, size: 0 })).toEqual(unsatisfiable);
  });

  it("is for GET alone", () => {
    expect(selectPart("HEAD", { range: "bytes=0-1" }, file)).toEqual(whole);
  });

  it.each([
    ['"abc"', part(0, 2)],
    ['"other"', whole],
    ['W/"abc"', whole],
    ["Thu, 05 Nov 2026 08:00:00 GMT", whole],
  ])("with If-Range %s counts only for the same content", (condition, expected) => {
    expect(selectPart("GET", { range: "bytes=0-1", "if-range": condition }, file)).toEqual(expected);
  });
});

describe("If-None-Match", () => {
  it.each(['"abc"', 'W/"abc"', "*", '"x", "abc"'])("%s says that the client has it", (condition) => {
    const headers = { "if-none-match": condition, range: "bytes=0-1" };
    expect(selectPart("GET", headers, file)).toEqual({ kind: "notModified" });
    expect(selectPart("HEAD", headers, file)).toEqual({ kind: "notModified" });
  });

  it.each(['"x"', "abc", ""])("%s does not", (condition) => {
    expect(selectPart("GET", { "if-none-match": condition }, file)).toEqual(whole);
  });
});
