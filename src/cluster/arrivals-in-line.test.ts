import { describe, expect, it } from "vitest";
import { ArrivalsInLine } from "./arrivals-in-line.ts";

describe("the files of other nodes that are in line", () => {
  it("are known to what begins after them, and not to what has begun before", () => {
    const inLine = new ArrivalsInLine();
    inLine.add([1]);
    const earlier = inLine.begin();
    inLine.add([2]);
    expect([earlier.has(1), earlier.has(2)]).toEqual([true, false]);
    const later = inLine.begin();
    expect([later.has(1), later.has(2), later.has(3)]).toEqual([true, true, false]);
  });

  it("stay known when they are told again", () => {
    const inLine = new ArrivalsInLine();
    inLine.add([1]);
    const earlier = inLine.begin();
    inLine.add([1, 2]);
    expect([earlier.has(1), earlier.has(2)]).toEqual([true, false]);
  });

  it("keep their rows until all that was begun before them has ended, however often each says so", () => {
    const inLine = new ArrivalsInLine();
    const first = [inLine.begin(), inLine.begin()] as const;
    inLine.add([1]);
    const second = inLine.begin();
    inLine.add([2]);
    expect(inLine.removable).toEqual([]);
    first[0].end();
    first[0].end();
    expect(inLine.removable).toEqual([]);
    first[1].end();
    expect(inLine.removable).toEqual([1]);
    second.end();
    expect(inLine.removable).toEqual([1, 2]);
  });

  it("stay known once their rows are removed, for a transaction that has them still, until the next ones are", () => {
    const inLine = new ArrivalsInLine();
    inLine.add([1]);
    inLine.add([2]);
    expect(inLine.countToRemove).toBe(2);
    inLine.removed([1]);
    expect([inLine.has(1), inLine.has(2), inLine.countToRemove]).toEqual([true, true, 1]);
    inLine.removed([2]);
    expect([inLine.has(1), inLine.has(2), inLine.countToRemove]).toEqual([false, true, 0]);
  });

  it("are missing from the moment a transaction tells of them until they are in line", () => {
    const inLine = new ArrivalsInLine();
    const told = (ids: readonly number[], areMore = false) =>
      inLine.tell({ arrivals: ids.map((fileId) => ({ fileId, name: `${fileId}.xml` })), areMore });
    expect(inLine.isTold(60_000)).toBe(false);
    inLine.add([1]);
    told([1, 2, 3]);
    expect(inLine.missing).toEqual([2, 3]);
    expect(inLine.isTold(60_000)).toBe(true);
    inLine.add([3]);
    told([1, 2, 3]);
    expect(inLine.missing).toEqual([2]);
    told([4], true);
    expect([inLine.missing, inLine.isTold(60_000)]).toEqual([undefined, false]);
    told([4]);
    expect(inLine.missing).toEqual([2, 4]);
  });
});
