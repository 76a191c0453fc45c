import { cpuRatio } from "../../../test/support/cpu-time.ts";
import { describe, expect, test } from "vitest";
import { factNames, factsOf, fitsPattern, secondsOfTimeValue, timeValueOf } from "./listing.ts";

const time = Date.UTC(2026, 10, 5, 8, 0, 9) / 1000;
const file = { isDirectory: false, size: 7, mode: 0o640, modifiedSeconds: time, accessedSeconds: time };
const none = { get: false, put: false, remove: false, rename: false };

describe("times", () => {
  test("are UTC, and are read as they are written", () => {
    expect(timeValueOf(time)).toBe("20261105080009");
    expect(secondsOfTimeValue("20261105080009")).toBe(time);
    expect(secondsOfTimeValue("20261105080009.500")).toBe(time);
  });

  test.each(["", "2026", "20261305080009", "20260230080009", "2026110508000x", "20261105256009"])(
    "%j is none",
    (text) => {
      expect(secondsOfTimeValue(text)).toBeUndefined();
    },
  );
});

describe("facts", () => {
  const all = new Set(factNames);
  test.each([
    ["a waiting file", file, none, "type=file;size=7;modify=20261105080009;perm=; "],
    [
      "a receipt",
      file,
      { ...none, get: true, remove: true },
      "type=file;size=7;modify=20261105080009;perm=dr; ",
    ],
    [
      "an unfinished upload",
      file,
      { ...none, put: true, remove: true, rename: true },
      "type=file;size=7;modify=20261105080009;perm=awdf; ",
    ],
    [
      "inbound",
      { ...file, isDirectory: true },
      { ...none, put: true },
      "type=dir;modify=20261105080009;perm=cel; ",
    ],
    ["another folder", { ...file, isDirectory: true }, none, "type=dir;modify=20261105080009;perm=el; "],
  ])("of %s", (_what, attributes, rights, text) => {
    expect(factsOf(attributes, rights, all)).toBe(text);
  });

  test("are those that were asked for", () => {
    expect(factsOf(file, none, new Set(["size"]))).toBe("size=7; ");
    expect(factsOf(file, none, new Set())).toBe(" ");
  });
});

describe("patterns", () => {
  test.each([
    ["a.xml", "*.xml", true],
    ["a.xml.part", "*.xml", false],
    ["", "*", true],
    ["abc", "a?c", true],
    ["abc", "a?", false],
    ["aXbXc", "a*b*c", true],
    ["ab", "a*b*c", false],
    ["a*c", "a*c", true],
    ["[a]", "[a]", true],
    ["ü1.xml", "?1.xml", true],
  ])("%j and %j: %s", (name, pattern, fits) => {
    expect(fitsPattern(name, pattern)).toBe(fits);
  });

  test("that are made to take long do not", () => {
    const ratio = cpuRatio(
      () => expect(fitsPattern("a".repeat(255), `${"*a".repeat(120)}b`)).toBe(false),
      () => expect(fitsPattern("a".repeat(255), "a".repeat(255))).toBe(true),
    );
    expect(ratio).toBeLessThan(1_000);
  });
});
