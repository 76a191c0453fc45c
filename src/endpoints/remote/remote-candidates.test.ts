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

test("names beyond the room are left out, those with the latest times, in whatever order they are listed", () => {
  const candidates = new RemoteCandidates(2);
  const at = (hour: number) => file(`a_20261105_${String(hour).padStart(2, "0")}0000.xml`);
  const hours = [5, 9, 3, 7, 1, 8, 2];
  for (const nowMs of [0, 100]) listing(candidates, nowMs, hours.map(at));
  expect(candidates.hasLeftOut).toBe(true);
  expect(namesOf(candidates, 10).toSorted()).toEqual([at(1), at(2)].map(({ name }) => name));
  expect(candidates.unsettled(10)).toEqual([]);
});

test("a listing is wanted until all known names were seen again, and far more than there is room for", () => {
  const candidates = new RemoteCandidates(2);
  const see = (from: number, to: number, nowMs: number) => {
    for (let name = from; name < to; name += 1) candidates.see(file(String(name)), nowMs);
  };
  candidates.beginListing(0);
  see(0, 39, 1);
  expect(candidates.wantsMore).toBe(true);
  see(39, 40, 1);
  expect([candidates.wantsMore, candidates.hasLeftOut]).toEqual([false, true]);
  expect(candidates.settled(0)).toEqual([]);
  expect(candidates.size).toBe(2);
  candidates.beginListing(100);
  see(2, 50, 101);
  expect(candidates.wantsMore).toBe(true);
  see(0, 2, 101);
  expect(candidates.wantsMore).toBe(false);
});
