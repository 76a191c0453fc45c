import { afterEach, describe, expect, it, vi } from "vitest";
import { ArrivalsInLine } from "./arrivals-in-line.ts";

afterEach(() => void vi.useRealTimers());

describe("the files of other nodes that are in line", () => {
  it("are known to what begins after them, and not to what has begun before", () => {
    const inLine = new ArrivalsInLine();
    inLine.add([1]);
    const earlier = inLine.asOfNow();
    inLine.add([2]);
    expect([earlier.has(1), earlier.has(2)]).toEqual([true, false]);
    const later = inLine.asOfNow();
    expect([later.has(1), later.has(2), later.has(3)]).toEqual([true, true, false]);
  });

  it("stay known when they are told again", () => {
    const inLine = new ArrivalsInLine();
    inLine.add([1]);
    const earlier = inLine.asOfNow();
    inLine.add([1, 2]);
    expect([earlier.has(1), earlier.has(2)]).toEqual([true, false]);
  });

  it("end what was known before them when their rows are to be removed, and nothing that began behind", () => {
    vi.useFakeTimers();
    const inLine = new ArrivalsInLine();
    inLine.add([1]);
    const afterFirst = inLine.asOfNow();
    vi.advanceTimersByTime(300);
    inLine.add([2]);
    const afterSecond = inLine.asOfNow();
    vi.advanceTimersByTime(300);
    expect(inLine.takeRemovable(500)).toEqual([1]);
    expect([afterFirst.isOver(), afterSecond.isOver()]).toEqual([false, false]);
    expect(inLine.takeRemovable(0)).toEqual([1, 2]);
    expect([afterFirst.isOver(), afterSecond.isOver()]).toEqual([true, false]);
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
});
