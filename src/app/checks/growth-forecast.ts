/** From the growth of a state to the day on which a disk is full. */
import type { RetentionKind } from "../../domain/retention/retention.ts";
import type { StateGrowth } from "../../store/database/inspect-store.ts";
import type { GrowingTable } from "../../store/database/table-growth.ts";
import { blockBytes } from "../../store/ledger/file-sizes.ts";
import { dayMs } from "../../lib/durations.ts";

export const keptForEver = "stops, loads, orders and reports of drivers";

/** What grows, by the setting that says how long it is kept. */
export type GrowingKind = RetentionKind | typeof keptForEver;

const kindOfTable: Readonly<Record<GrowingTable, GrowingKind>> = {
  files: "ledger",
  file_stops: "ledger",
  recorded_events: "events",
  reported_events: keptForEver,
  positions: "positions",
  completions: "outbound",
  deliveries: "outbound",
  delivery_attempts: "outbound",
  messages: "messages",
  imports: "imports",
  import_items: "imports",
  documents: "documents",
  appointments: "appointments",
  stops: keptForEver,
  loads: keptForEver,
  orders: keptForEver,
};

export interface Growing {
  readonly what: string;
  readonly bytesPerDay: number;
  /** So many more days, until as much goes as comes; Infinity for what is kept for ever. */
  readonly days: number;
}

/** What a row takes besides its values and its part of the indexes. */
const rowBytes = 20;

/** When the oldest row of them all was written, milliseconds UTC; undefined in an empty state. */
export function firstTimeOf(growths: readonly StateGrowth[]): number | undefined {
  const times = growths.flatMap(({ tables }) => tables.flatMap(({ firstAt }) => firstAt ?? []));
  return times.length === 0 ? undefined : Math.min(...times);
}

export interface ForecastBasis {
  /** Of the period that the growth was measured over. */
  readonly days: number;
  readonly now: number;
  /** How many days something is kept; Infinity: for ever. */
  readonly keptDays: (what: GrowingKind) => number;
}

type MeasuredTable = StateGrowth["tables"][number];

interface Share {
  readonly what: GrowingKind;
  /** In the whole period. */
  readonly bytes: number;
}

function weightOf({ valueBytes }: MeasuredTable): number {
  return valueBytes + rowBytes;
}

/** What the rows of a table add outside of the database. */
function filesOf({ table, recent }: MeasuredTable, { filed, documentBytes }: StateGrowth): readonly Share[] {
  if (table === "documents") return [{ what: "documents", bytes: recent * documentBytes }];
  if (table !== "files") return [];
  return [
    { what: "archive", bytes: recent * filed.archive },
    { what: "error", bytes: recent * filed.error },
    { what: "receipts", bytes: recent * blockBytes },
  ];
}

/** What the state adds to its disk, the most first. */
export function growingOf(growth: StateGrowth, { days, now, keptDays }: ForecastBasis): readonly Growing[] {
  const { tables, databaseBytes } = growth;
  const weight = tables.reduce((sum, table) => sum + table.all * weightOf(table), 0);
  const found = new Map<GrowingKind, { readonly bytes: number; readonly firstAt: number }>();
  for (const table of tables) {
    if (table.firstAt === undefined) continue;
    // The tables share what the database takes, indexes and all, by the size and number of their rows.
    const bytes = (table.recent * weightOf(table) * databaseBytes) / weight;
    for (const share of [{ what: kindOfTable[table.table], bytes }, ...filesOf(table, growth)]) {
      const known = found.get(share.what) ?? { bytes: 0, firstAt: table.firstAt };
      const firstAt = Math.min(known.firstAt, table.firstAt);
      found.set(share.what, { bytes: known.bytes + share.bytes, firstAt });
    }
  }
  return [...found]
    .map(([what, { bytes, firstAt }]) => ({
      ...{ what, bytesPerDay: bytes / days },
      days: Math.max(0, keptDays(what) - (now - firstAt) / dayMs),
    }))
    .filter((one) => one.bytesPerDay > 0 && one.days > 0)
    .toSorted((a, b) => b.bytesPerDay - a.bytesPerDay);
}

const farthestDays = 3_650;

/** In how many days so many bytes are used up; undefined when they last for ten years. */
export function daysUntilFull(room: number, growing: readonly Omit<Growing, "what">[]): number | undefined {
  for (let day = 0; day <= farthestDays; day++) {
    const used = growing.reduce((sum, one) => sum + one.bytesPerDay * Math.min(day, one.days), 0);
    if (used >= room) return day;
  }
  return undefined;
}
