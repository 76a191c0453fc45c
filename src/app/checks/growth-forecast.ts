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

/** What a disk fills with. */
export interface Growing {
  readonly what: string;
  /** By how many bytes it is more after so many days (a whole number); below 0 where more goes than comes. */
  readonly bytesAfter: (days: number) => number;
}

/** What comes and, as it gets too old, goes of a kind. */
export interface KindGrowth extends Growing {
  readonly what: GrowingKind;
  /** How many bytes have gone after so many days. */
  readonly goneAfter: (days: number) => number;
}

/** What a row takes besides its values and its part of the indexes. */
const rowOverhead = 20;

/** When the oldest row of them all was written, milliseconds UTC; undefined in an empty state. */
export function firstTimeOf(growths: readonly StateGrowth[]): number | undefined {
  const times = growths.flatMap(({ tables }) => tables.flatMap(({ firstAt }) => firstAt ?? []));
  return times.length === 0 ? undefined : Math.min(...times);
}

export interface ForecastBasis {
  /** Of the period that the growth was measured over. */
  readonly days: number;
  readonly now: number;
  /** How many days a company keeps something; Infinity: for ever. */
  readonly keptDays: (what: GrowingKind, companyCode: string) => number;
}

type MeasuredTable = StateGrowth["tables"][number];

/** What each row of a table takes of a kind. */
interface Share {
  readonly what: GrowingKind;
  readonly rowBytes: number;
}

function weightOf({ valueBytes }: MeasuredTable): number {
  return valueBytes + rowOverhead;
}

/** What the rows of a table add outside of the database. */
function filesOf({ table }: MeasuredTable, { filed, documentBytes }: StateGrowth): readonly Share[] {
  if (table === "documents") return [{ what: "documents", rowBytes: documentBytes }];
  if (table !== "files") return [];
  return [
    { what: "archive", rowBytes: filed.archive },
    { what: "error", rowBytes: filed.error },
    { what: "receipts", rowBytes: blockBytes },
  ];
}

function rowsOf({ kept }: MeasuredTable): number {
  return kept.reduce((sum, { rows }) => sum + rows, 0);
}

/** Further ahead nothing is told. */
const farthestDays = 3_650;

/** What comes and goes of what is kept equally long. */
class Flow {
  readonly #keptDays: number;
  #perDay = 0;
  /** How much of what there is goes on which day from now. */
  readonly #leaving = new Map<number, number>();
  #left: readonly number[] | undefined;

  constructor(keptDays: number) {
    this.#keptDays = keptDays;
  }

  /** So much comes a day. */
  comes(bytesPerDay: number): void {
    this.#perDay += bytesPerDay;
  }

  /** There is so much of that age. What should have gone by now and has not is kept for another reason, and stays. */
  has(bytes: number, ageDays: number): void {
    const day = Math.ceil(this.#keptDays - ageDays);
    if (day > 0 && day <= farthestDays) this.#leaving.set(day, (this.#leaving.get(day) ?? 0) + bytes);
  }

  comeAfter(days: number): number {
    return this.#perDay * days;
  }

  goneAfter(days: number): number {
    this.#left ??= this.#summed();
    const ofToday = this.#left[Math.min(days, farthestDays)] ?? 0;
    return ofToday + this.#perDay * Math.max(0, days - this.#keptDays);
  }

  #summed(): readonly number[] {
    let sum = 0;
    return Array.from({ length: farthestDays + 1 }, (_, day) => (sum += this.#leaving.get(day) ?? 0));
  }
}

/** The flows of each kind, by the days that it is kept. */
class Flows {
  readonly #kinds = new Map<GrowingKind, Map<number, Flow>>();

  flow(what: GrowingKind, keptDays: number): Flow {
    const ofKind = this.#kinds.get(what) ?? new Map<number, Flow>();
    const flow = ofKind.get(keptDays) ?? new Flow(keptDays);
    this.#kinds.set(what, ofKind.set(keptDays, flow));
    return flow;
  }

  kinds(): readonly KindGrowth[] {
    return [...this.#kinds].map(([what, ofKind]) => {
      const flows = [...ofKind.values()];
      const goneAfter = (days: number) => flows.reduce((sum, flow) => sum + flow.goneAfter(days), 0);
      const comeAfter = (days: number) => flows.reduce((sum, flow) => sum + flow.comeAfter(days), 0);
      return { what, goneAfter, bytesAfter: (days) => comeAfter(days) - goneAfter(days) };
    });
  }
}

/**
 * Rows a day of each company. Of one that keeps rows for less than the period, only those of that time are there to be
 * counted.
 */
function rowsPerDayOf(
  table: MeasuredTable,
  { days, now, keptDays }: ForecastBasis,
): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const { companyCode, at, rows } of table.kept) {
    if (at < now - days * dayMs) continue;
    const counted = Math.min(days, keptDays(kindOfTable[table.table], companyCode));
    found.set(companyCode, (found.get(companyCode) ?? 0) + rows / counted);
  }
  const counted = [...found.values()].reduce((sum, one) => sum + one, 0);
  return new Map([...found].map(([code, one]) => [code, (one / counted) * (table.recent / days)]));
}

/** What the state adds to its disk, and what leaves it, by kind. */
export function growthOf(growth: StateGrowth, basis: ForecastBasis): readonly KindGrowth[] {
  const { tables, databaseBytes } = growth;
  const weight = tables.reduce((sum, table) => sum + rowsOf(table) * weightOf(table), 0);
  const flows = new Flows();
  for (const table of tables) {
    // The tables share what the database takes, indexes and all, by the size and number of their rows.
    const ofDatabase = {
      what: kindOfTable[table.table],
      rowBytes: (weightOf(table) * databaseBytes) / weight,
    };
    const perDay = rowsPerDayOf(table, basis);
    for (const { what, rowBytes } of [ofDatabase, ...filesOf(table, growth)]) {
      const flowOf = (companyCode: string) => flows.flow(what, basis.keptDays(what, companyCode));
      for (const [companyCode, rows] of perDay) flowOf(companyCode).comes(rows * rowBytes);
      for (const { companyCode, at, rows } of table.kept)
        flowOf(companyCode).has(rows * rowBytes, (basis.now - at) / dayMs);
    }
  }
  return flows.kinds();
}

/** By how many bytes all of it is more after so many days. */
export function bytesAfter(growing: readonly Pick<Growing, "bytesAfter">[], days: number): number {
  return growing.reduce((sum, one) => sum + one.bytesAfter(days), 0);
}

/** In how many days so many bytes are used up; undefined when they last for ten years. */
export function daysUntilFull(
  room: number,
  growing: readonly Pick<Growing, "bytesAfter">[],
): number | undefined {
  for (let day = 0; day <= farthestDays; day++) if (bytesAfter(growing, day) >= room) return day;
  return undefined;
}

/** Whether anything is more some day than it is now. */
export function isGrowing(growing: readonly Pick<Growing, "bytesAfter">[]): boolean {
  return daysUntilFull(1, growing) !== undefined;
}

export interface Rate {
  readonly what: string;
  readonly bytesPerDay: number;
}

/** How fast each grows within so many days, in the mean, the most first. In whole bytes: what sums of shares leave is no growth. */
export function ratesOf(growing: readonly Growing[], days: number): readonly Rate[] {
  return growing
    .map(({ what, ...one }) => ({ what, bytesPerDay: Math.round(one.bytesAfter(days) / days) + 0 }))
    .toSorted((a, b) => b.bytesPerDay - a.bytesPerDay);
}
