import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ScanRounds } from "./scan-rounds.ts";

describe("rounds of scans", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  interface Turn {
    readonly item: number;
    readonly atMs: number;
  }

  /** The turns of the first minute, counted from the start. */
  async function turnsOf(count: number, scanMs: number): Promise<Turn[]> {
    const turns: Turn[] = [];
    const startedMs = performance.now();
    const rounds = new ScanRounds<number>({
      items: async () => Array.from({ length: count }, (_, item) => item),
      visit: (item) => turns.push({ item, atMs: performance.now() - startedMs }),
      scanMs: () => scanMs,
    });
    rounds.start();
    await vi.advanceTimersByTimeAsync(60_000);
    rounds.stop();
    await vi.advanceTimersByTimeAsync(60_000);
    return turns;
  }

  it("visit a single folder each scanMs", async () => {
    const turns = await turnsOf(1, 10_000);
    expect(turns.map(({ atMs }) => Math.round(atMs / 1_000))).toEqual([10, 20, 30, 40, 50, 60]);
  });

  it("visit each of a thousand once a round, ten each 100 ms, always in the same order", async () => {
    const turns = await turnsOf(1_000, 10_000);
    expect(turns.slice(0, 3_000).map(({ item }) => item)).toEqual(
      Array.from({ length: 3_000 }, (_, turn) => turn % 1_000),
    );
    const atOnce = [...Map.groupBy(turns, ({ atMs }) => atMs).values()].map(({ length }) => length);
    expect(Math.max(...atOnce)).toBeLessThanOrEqual(12);
    const ofOne = turns.filter(({ item }) => item === 500).map(({ atMs }) => atMs);
    for (const [index, atMs] of ofOne.slice(1).entries())
      expect(Math.abs(atMs - (ofOne[index] ?? 0) - 10_000)).toBeLessThan(300);
  });

  it("visit all in each round when there is no time to spread them over", async () => {
    const turns = await turnsOf(1_000, 100);
    expect(turns.length).toBeGreaterThan(100_000);
    expect(turns.slice(0, 2_000).map(({ item }) => item % 1_000)).toEqual(
      Array.from({ length: 2_000 }, (_, turn) => turn % 1_000),
    );
  });

  it("go on with nothing to visit", async () => {
    expect(await turnsOf(0, 1_000)).toEqual([]);
  });
});
