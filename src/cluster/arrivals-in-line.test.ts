import { describe, expect, it } from "vitest";
import { ArrivalsInLine } from "./arrivals-in-line.ts";

describe("the files of other nodes that are in line", () => {
  it("are known to what begins after them, and not to what has begun before", () => {
    const inLine = new ArrivalsInLine();
    inLine.add([1]);
    const earlier = inLine.asOfNow();
    inLine.add([2]);
    expect([earlier(1), earlier(2)]).toEqual([true, false]);
    const later = inLine.asOfNow();
    expect([later(1), later(2), later(3)]).toEqual([true, true, false]);
  });

  it("stay known when they are told again", () => {
    const inLine = new ArrivalsInLine();
    inLine.add([1]);
    const earlier = inLine.asOfNow();
    inLine.add([1, 2]);
    expect([earlier(1), earlier(2)]).toEqual([true, false]);
  });

  it("stay known once their rows are removed, for a transaction that has them still, until the next ones are", () => {
    const inLine = new ArrivalsInLine();
    inLine.add([1]);
    inLine.add([2]);
    expect(inLine.toRemove).toEqual([1, 2]);
    inLine.removed([1]);
    expect([inLine.has(1), inLine.has(2), inLine.toRemove]).toEqual([true, true, [2]]);
    inLine.removed([2]);
    expect([inLine.has(1), inLine.has(2), inLine.toRemove]).toEqual([false, true, []]);
  });
});
