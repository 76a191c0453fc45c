import { describe, expect, it, test } from "vitest";
import { completionFileName, nextCompletionName } from "./completion-name.ts";
import { parseStopFileName } from "../files/stop-file-name.ts";

describe("the name of a completion file", () => {
  it.each([
    ["4711", "2026-11-05T08:00:00", "4711_20261105_080000.xml"],
    ["AB-1.x_Y", "2024-02-29T23:59:59", "ab-1.x_y_20240229_235959.xml"],
    ["47 11#ä", "2026-11-05T08:00:00", "47-11--_20261105_080000.xml"],
    ["a😀b", "2026-11-05T08:00:00", "a-b_20261105_080000.xml"],
    ["İ".repeat(20), "2026-11-05T08:00:00", `${"-".repeat(20)}_20261105_080000.xml`],
    ["\u212aelvin", "2026-11-05T08:00:00", "-elvin_20261105_080000.xml"],
    ["12345678901234567890", "2026-11-05T08:00:00", "12345678901234567890_20261105_080000.xml"],
    ["1_20260101_000000", "2026-11-05T08:00:00", "1_20260101_000000_20261105_080000.xml"],
    [".a.", "2026-11-05T08:00:00", "-a._20261105_080000.xml"],
    ["1", "1969-12-31T23:59:59", "1_19700101_000000.xml"],
    ["1", "0000-01-01T00:00:00", "1_19700101_000000.xml"],
  ])("of the stop %s at %s is %s", (stopNbr, at, name) => {
    expect(completionFileName(stopNbr, at)).toBe(name);
  });
});

describe("the next name", () => {
  it.each([
    ["a_20261105_080000.xml", "a_20261105_080001.xml"],
    ["a_20261105_080059.xml", "a_20261105_080100.xml"],
    ["a_20261105_085959.xml", "a_20261105_090000.xml"],
    ["a_20261105_235959.xml", "a_20261106_000000.xml"],
    ["a_20261130_235959.xml", "a_20261201_000000.xml"],
    ["a_20261231_235959.xml", "a_20270101_000000.xml"],
    ["a_20240228_235959.xml", "a_20240229_000000.xml"],
    ["a_20230228_235959.xml", "a_20230301_000000.xml"],
    ["a_21000228_235959.xml", "a_21000301_000000.xml"],
    ["a_20000228_235959.xml", "a_20000229_000000.xml"],
    // A day on which clocks go forward in many zones: names know no zone.
    ["a_20260329_015959.xml", "a_20260329_020000.xml"],
    ["a_99991231_235959.xml", "a_19700101_000000.xml"],
    ["1_20260101_000000_20261105_080000.xml", "1_20260101_000000_20261105_080001.xml"],
  ])("after %s is %s", (name, next) => expect(nextCompletionName(name)).toBe(next));

  it("of what is no such name is refused", () => {
    expect(() => nextCompletionName("notes.xml")).toThrow("_CCYYMMDD_HHMMSS.xml");
  });
});

test("every name is one that stop files may have, also after moving on, and is never met again", () => {
  for (const stopNbr of ["A", "a b/ü", "x_".repeat(10), ".", "İ".repeat(20), "\ud800", "😀".repeat(10)]) {
    let name = completionFileName(stopNbr, "2027-12-31T23:59:30");
    const seen = new Set<string>();
    for (let second = 0; second < 100; second++) {
      const parsed = parseStopFileName(name);
      expect(parsed, name).toMatchObject({ kind: "named" });
      if (parsed.kind === "named") expect(parsed.stopNbr).toHaveLength([...stopNbr].length);
      seen.add(name);
      name = nextCompletionName(name);
    }
    expect(seen.size).toBe(100);
  }
});

test("two stops whose numbers give one name are told apart by moving on", () => {
  const taken = new Set<string>();
  for (const stopNbr of ["A/1", "a-1", "A 1"]) {
    let name = completionFileName(stopNbr, "2026-12-31T23:59:58");
    while (taken.has(name)) name = nextCompletionName(name);
    taken.add(name);
  }
  expect([...taken]).toEqual([
    "a-1_20261231_235958.xml",
    "a-1_20261231_235959.xml",
    "a-1_20270101_000000.xml",
  ]);
});
