import { afterEach, describe, expect, it, vi } from "vitest";
import { retentionKinds } from "../../domain/retention/retention.ts";
import type { StateGrowth } from "../../store/database/inspect-store.ts";
import { dayMs } from "../../lib/durations.ts";
import type { KeptRows, TableGrowth } from "../../store/database/table-growth.ts";
import { filledDisksOf } from "./filled-disks.ts";
import { daysUntilFull, firstTimeOf, growthOf, isGrowing, ratesOf } from "./growth-forecast.ts";

afterEach(() => {
  vi.useRealTimers();
});

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
    const growing = rates.map(([perDay, until]) => ({
      bytesAfter: (days: number) => perDay * Math.min(days, until),
    }));
    expect(daysUntilFull(room, growing)).toBe(day);
    expect(isGrowing(growing)).toBe(rates.length > 0);
  });
});

/** Rows of the days between, a day each. */
function rowsOf(companyCode: string, span: { from: number; to: number; perDay: number }): KeptRows[] {
  return Array.from({ length: span.from - span.to }, (_, day) => ({
    ...{ companyCode, rows: span.perDay },
    at: now - (span.to + day + 0.5) * dayMs,
  }));
}

function tableOf(table: TableGrowth["table"], kept: readonly KeptRows[], recent: number): TableGrowth {
  return { table, recent, kept, firstAt: Math.min(...kept.map(({ at }) => at)), valueBytes: 80 };
}

/** All in the archive, a kilobyte each. */
const inArchive = { databaseBytes: 0, filed: { archive: 1_000, error: 0 }, documentBytes: 0, delivered: [] };

function archiveOf(kept: readonly KeptRows[], keptDays: (companyCode: string) => number) {
  const recent = kept.reduce((sum, { at, rows }) => sum + (at >= now - 7 * dayMs ? rows : 0), 0);
  const growth: StateGrowth = { ...inArchive, tables: [tableOf("files", kept, recent)] };
  const found = growthOf(growth, {
    ...{ days: 7, now },
    keptDays: (what, code) => (what === "archive" ? keptDays(code) : forEver),
  }).find(({ what }) => what === "archive");
  if (found === undefined) throw new Error("the archive is not among the kinds");
  return found;
}

function bytesAfter(growing: { bytesAfter: (days: number) => number }, ...days: number[]): number[] {
  return days.map((day) => Math.round(growing.bytesAfter(day)));
}

describe("what grows", () => {
  const files = rowsOf("ACME", { from: 100, to: 0, perDay: 10 });
  const growth: StateGrowth = {
    tables: [
      { ...tableOf("files", files, 300), valueBytes: 80 },
      {
        ...tableOf("recorded_events", rowsOf("ACME", { from: 99, to: 0, perDay: 10 }), 300),
        valueBytes: 280,
      },
      tableOf("documents", rowsOf("ACME", { from: 10, to: 0, perDay: 3 }), 30),
      { table: "positions", recent: 0, kept: [], firstAt: undefined, valueBytes: 0 },
    ],
    databaseBytes: 1_000 * 100 + 990 * 300 + 30 * 100,
    filed: { archive: 8_000, error: 1_000 },
    documentBytes: 50_000,
    delivered: [],
  };

  it("is told by day and kind, the most first: files, and each table's share of the database", () => {
    const kinds = growthOf(growth, { days: 30, now, keptDays: () => forEver });
    const rates = ratesOf(kinds, 1).map(({ what, bytesPerDay }) => [what, bytesPerDay]);
    expect(rates).toEqual([
      ["archive", 80_000],
      ["documents", 50_000 + 100],
      ["receipts", 40_960],
      ["error", 10_000],
      ["events", 3_000],
      ["ledger", 1_000],
    ]);
    expect(ratesOf(kinds, 500)[0]?.bytesPerDay).toBe(80_000);
  });

  it("begins with the oldest row", () => {
    expect(firstTimeOf([growth])).toBe(now - 99.5 * dayMs);
    expect(firstTimeOf([{ ...growth, tables: [] }])).toBeUndefined();
  });
});

describe("a kind that is kept for some days", () => {
  it("grows until it is as old as that, and not after", () => {
    const archive = archiveOf(rowsOf("ACME", { from: 20, to: 0, perDay: 10 }), () => 30);
    expect(bytesAfter(archive, 1, 10, 20, 30, 3_000)).toEqual([10, 100, 100, 100, 100].map((n) => n * 1_000));
  });

  it("that is older and comes as before has no rate, however its shares add up", () => {
    const archive = archiveOf(rowsOf("ACME", { from: 100, to: 0, perDay: 3.7 }), () => 30);
    expect(archive.bytesAfter(30)).not.toBe(0);
    expect(ratesOf([archive], 30)).toEqual([{ what: "archive", bytesPerDay: 0 }]);
  });

  it("that is older grows by what comes more than in the days that leave", () => {
    const kept = [
      ...rowsOf("ACME", { from: 400, to: 10, perDay: 100 }),
      ...rowsOf("ACME", { from: 10, to: 0, perDay: 1_000 }),
    ];
    const archive = archiveOf(kept, () => 90);
    const more = 900 * 1_000;
    expect(bytesAfter(archive, 1, 10, 80, 90, 3_000)).toEqual([1, 10, 80, 80, 80].map((days) => days * more));
    expect(archive.goneAfter(100)).toBe((80 * 100 + 20 * 1_000) * 1_000);
  });

  it("grows less and less, or shrinks, where less comes than before", () => {
    const kept = [
      ...rowsOf("ACME", { from: 90, to: 10, perDay: 1_000 }),
      ...rowsOf("ACME", { from: 10, to: 0, perDay: 100 }),
    ];
    expect(
      bytesAfter(
        archiveOf(kept, () => 90),
        10,
        3_000,
      ),
    ).toEqual([-9_000_000, -72_000_000]);
    expect(isGrowing([archiveOf(kept, () => 90)])).toBe(false);
  });

  it("does not count on what should have gone and is still there", () => {
    const kept = rowsOf("ACME", { from: 400, to: 0, perDay: 10 });
    expect(
      bytesAfter(
        archiveOf(kept, () => 30),
        1,
        10,
        3_000,
      ),
    ).toEqual([0, 0, 0]);
  });

  it("is kept by each company as long as that one says", () => {
    const kept = [
      ...rowsOf("SMALL", { from: 400, to: 0, perDay: 1 }),
      ...rowsOf("LARGE", { from: 400, to: 0, perDay: 99 }),
    ];
    const archive = archiveOf(kept, (code) => (code === "SMALL" ? forEver : 30));
    expect(bytesAfter(archive, 1, 100)).toEqual([1_000, 100_000]);
  });
});

it("rows that went within the period came in it all the same: a company's share is that of its days", () => {
  // Both have a thousand rows a day; those of BRIEF are there for two days.
  const kept = [
    ...rowsOf("LONG", { from: 30, to: 0, perDay: 1_000 }),
    ...rowsOf("BRIEF", { from: 2, to: 0, perDay: 1_000 }),
  ];
  const growth: StateGrowth = {
    ...{ ...inArchive, filed: { archive: 0, error: 0 }, databaseBytes: 32_000 * 100 },
    tables: [tableOf("files", kept, 14_000)],
  };
  const keptDays = (what: string, code: string) => (what === "ledger" && code === "BRIEF" ? 2 : forEver);
  const ledger = growthOf(growth, { days: 7, now, keptDays }).find(({ what }) => what === "ledger");
  expect(bytesAfter(ledger ?? { bytesAfter: () => -1 }, 1, 100)).toEqual([100_000, 10_000_000]);
});

describe("retention.moveTo", () => {
  const kept = rowsOf("ACME", { from: 100, to: 0, perDay: 10 });
  const growth: StateGrowth = { ...inArchive, tables: [tableOf("files", kept, 70)] };
  const keep = Object.fromEntries(retentionKinds.map((kind) => [kind, "keep"]));
  const retention = { ...keep, archive: 30, moveTo: "/old" };
  const site = { config: { stateDir: "/state", companies: {}, retention }, targets: [] } as never;

  /** By the number of the disk, what of the archive it has more after a hundred days. */
  function archiveOn(others: readonly (readonly [string, { dev: number; room: number }])[]) {
    const places = { state: { dev: 1, room: 1_000_000 }, others: new Map(others) };
    const disks = filledDisksOf(site, places, { growth, days: 7 });
    return [...disks].map(([dev, { folder, room, growing }]) => {
      const archive = growing.filter(({ what }) => what.endsWith("archive"));
      const bytes = archive.reduce((sum, one) => sum + one.bytesAfter(100), 0);
      return [dev, folder, room, Math.round(bytes / 10_000), archive.map(({ what }) => what)];
    });
  }

  it("on another disk fills that one with what leaves", () => {
    vi.useFakeTimers({ now, toFake: ["Date"] });
    expect(archiveOn([["/old", { dev: 2, room: 5 }]])).toEqual([
      [1, "/state", 1_000_000, 0, ["archive"]],
      [2, "/old", 5, 100, ["what is moved from archive"]],
    ]);
  });

  it("on the disk of the state leaves all of it there, as a folder does that cannot be used", () => {
    vi.useFakeTimers({ now, toFake: ["Date"] });
    expect(archiveOn([["/old", { dev: 1, room: 5 }]])).toEqual([
      [1, "/state", 1_000_000, 100, ["archive", "what is moved from archive"]],
    ]);
    expect(archiveOn([])).toEqual([[1, "/state", 1_000_000, 100, ["archive"]]]);
  });
});
