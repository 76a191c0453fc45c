import { describe, expect, it } from "vitest";
import { Candidates, type FileState } from "./candidates.ts";

const first: FileState = { size: 10, mtimeMs: 1_000, ino: 7, ctimeMs: 1_000, cameAtMs: 1_000 };
const settleMs = 2_000;

function added(): Candidates {
  const candidates = new Candidates({ isInbox: true });
  candidates.add("a.xml", first, { atMs: 500, isRecovered: false });
  return candidates;
}

describe("the settle rule", () => {
  it("has nothing due before settleMs have passed since the first check", () => {
    expect(added().due(2_499, settleMs)).toEqual([]);
    expect(added().due(2_500, settleMs)).toEqual(["a.xml"]);
    expect(added().dueAtMs(settleMs)).toBe(2_500);
  });

  it("settles a file that is the same in the next check, and forgets it", () => {
    const candidates = added();
    expect(candidates.checkAgain("a.xml", { ...first }, 2_500)?.name).toBe("a.xml");
    expect(candidates.size).toBe(0);
    expect(candidates.dueAtMs(settleMs)).toBeUndefined();
  });

  it.each([
    ["size", { ...first, size: 11 }],
    ["mtime", { ...first, mtimeMs: 1_001 }],
    ["inode", { ...first, ino: 8 }],
  ])("begins again when the %s has changed", (_what, state) => {
    const candidates = added();
    expect(candidates.checkAgain("a.xml", state, 2_500)).toBeUndefined();
    expect(candidates.due(4_499, settleMs)).toEqual([]);
    expect(candidates.due(4_500, settleMs)).toEqual(["a.xml"]);
    expect(candidates.checkAgain("a.xml", state, 4_500)?.state).toEqual(state);
  });
});
