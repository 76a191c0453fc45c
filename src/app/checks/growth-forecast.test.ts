import { describe, expect, it } from "vitest";
import type { StateGrowth } from "../../store/database/inspect-store.ts";
import { daysUntilFull, firstTimeOf, growingOf } from "./growth-forecast.ts";
import { dayMs } from "../../lib/durations.ts";

const now = Date.UTC(2026, 10, 5);
const forEver = Number.POSITIVE_INFINITY;

describe("the day on which a disk is full", () => {
  it.each([
    [
      "is when all rates together have used the room",
      1_000,
      [
        [60, forEver],
        [40, forEver],
      ],
      10,
    ],
    ["is today without room", 0, [[1, forEver]], 0],
    ["is reached in the course of a day", 1_001, [[100, forEver]], 11],
    ["does not come when as much goes as comes before it", 1_000, [[100, 9]], undefined],
    [
      "comes later when some of it goes",
      1_000,
      [
        [100, 5],
        [50, forEver],
      ],
      10,
    ],
    ["is not told beyond ten years", 3_651, [[1, forEver]], undefined],
    ["is told within ten years", 3_650, [[1, forEver]], 3_650],
    ["does not come when nothing grows", 1, [], undefined],
  ] as const)("%s", (_, room, rates, day) => {
    const growing = rates.map(([bytesPerDay, days]) => ({ bytesPerDay, days }));
    expect(daysUntilFull(room, growing)).toBe(day);
  });
});

describe("what grows", () => {
  const firstAt = now - 100 * dayMs;
  const growth: StateGrowth = {
    tables: [
      { table: "files", recent: 300, all: 1_000, firstAt, valueBytes: 80 },
      { table: "recorded_events", recent: 300, all: 1_000, firstAt: firstAt + dayMs, valueBytes: 280 },
      { table: "documents", recent: 30, all: 30, firstAt: now - 10 * dayMs, valueBytes: 80 },
      { table: "positions", recent: 0, all: 0, firstAt: undefined, valueBytes: 0 },
    ],
    databaseBytes: 1_000 * 400 + 30 * 100,
    filed: { archive: 8_000, error: 1_000 },
    documentBytes: 50_000,
    delivered: [],
  };
  const grown = (keptDays: (what: string) => number) => growingOf(growth, { days: 30, now, keptDays });

  it("is told by day and kind, the most first: files, and each table's share of the database", () => {
    expect(grown(() => forEver)).toEqual([
      { what: "archive", bytesPerDay: 80_000, days: forEver },
      { what: "documents", bytesPerDay: 50_000 + 100, days: forEver },
      { what: "receipts", bytesPerDay: 40_960, days: forEver },
      { what: "error", bytesPerDay: 10_000, days: forEver },
      { what: "events", bytesPerDay: 3_000, days: forEver },
      { what: "ledger", bytesPerDay: 1_000, days: forEver },
    ]);
  });

  it("grows until it is as old as it is kept, and not at all after that", () => {
    const kept = { archive: 120, documents: 90, ledger: 60 };
    const days = grown((what) => kept[what as keyof typeof kept] ?? forEver).map((one) => [
      one.what,
      one.days,
    ]);
    expect(days).toEqual([
      ["archive", 20],
      ["documents", 80],
      ["receipts", forEver],
      ["error", forEver],
      ["events", forEver],
    ]);
  });

  it("begins with the oldest row", () => {
    expect(firstTimeOf([growth])).toBe(firstAt);
    expect(firstTimeOf([{ ...growth, tables: [] }])).toBeUndefined();
  });
});
