import { describe, expect, test } from "vitest";
import { isSameRemoteVersion } from "./remote-version.ts";

const same = (one: string, other: string, size = 7) =>
  isSameRemoteVersion({ size: 7, modified: one }, { size, modified: other });

describe("a file on a server is the one that was seen before", () => {
  test("when size and time are the same", () => {
    expect(same("1790000000", "1790000000")).toBe(true);
    expect(same("1790000000", "1790000001")).toBe(false);
    expect(same("1790000000", "1790000000", 8)).toBe(false);
  });

  test("also when its listing writes the year in place of the time, half a year later", () => {
    expect(same("Nov  1 18:55", "Nov 1  2026")).toBe(true);
    expect(same("Nov  1 18:55", "Nov 2  2026")).toBe(false);
    expect(same("Nov  1 18:55", "Nov  1 18:56")).toBe(false);
    expect(same("Nov  1  2025", "Nov  1  2026")).toBe(false);
  });
});
