import { describe, expect, test } from "vitest";
import { RemoteCandidates } from "./remote-candidates.ts";

const file = (name: string, size = 1, modified = "1") => ({ name, size, modified });

function listing(
  candidates: RemoteCandidates,
  nowMs: number,
  files: readonly ReturnType<typeof file>[],
): void {
  candidates.beginListing(nowMs);
  for (const one of files) candidates.see(one, nowMs + 1);
  candidates.endListing();
}

const namesOf = (candidates: RemoteCandidates, settleMs: number) =>
  candidates.settled(settleMs).map(({ name }) => name);

describe("a file of a remote is complete", () => {
  test("when two listings that are far enough apart tell the same of it", () => {
    const candidates = new RemoteCandidates(10);
    listing(candidates, 0, [file("a")]);
    expect(namesOf(candidates, 0)).toEqual([]);
    listing(candidates, 500, [file("a"), file("b")]);
    expect(namesOf(candidates, 1_000)).toEqual([]);
    listing(candidates, 1_001, [file("a"), file("b")]);
    expect(namesOf(candidates, 1_000)).toEqual(["a"]);
  });

  test("not when size or time has changed, or it was away in between", () => {
    const candidates = new RemoteCandidates(10);
    listing(candidates, 0, [file("size"), file("time"), file("away")]);
    listing(candidates, 100, [file("size", 2), file("time", 1, "2")]);
    expect(namesOf(candidates, 10)).toEqual([]);
    listing(candidates, 200, [file("size", 2), file("time", 1, "2"), file("away")]);
    expect(namesOf(candidates, 10)).toEqual(["size", "time"]);
  });

  test("also when a listing was cut before it, by what was told of it in this one", () => {
    const candidates = new RemoteCandidates(10);
    listing(candidates, 0, [file("a"), file("b")]);
    candidates.beginListing(100);
    candidates.see(file("a"), 101);
    expect(namesOf(candidates, 10)).toEqual(["a"]);
    expect(candidates.size).toBe(2);
  });
});

test("names beyond the room are left out, and a listing is wanted until all known ones were seen again", () => {
  const candidates = new RemoteCandidates(2);
  candidates.beginListing(0);
  for (const name of ["a", "b"]) candidates.see(file(name), 1);
  expect([candidates.wantsMore, candidates.hasLeftOut]).toEqual([true, false]);
  candidates.see(file("c"), 1);
  expect([candidates.wantsMore, candidates.hasLeftOut, candidates.size]).toEqual([false, true, 2]);
  candidates.beginListing(100);
  candidates.see(file("c"), 101);
  expect(candidates.wantsMore).toBe(true);
  candidates.see(file("b"), 101);
  candidates.see(file("a"), 101);
  expect(candidates.wantsMore).toBe(false);
});
