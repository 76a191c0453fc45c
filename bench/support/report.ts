/** The table that is printed and the JSON that is kept. */
import { isMet, type Measurement, medianOf, spreadOf } from "./measurement.ts";

function rounded(value: number): string {
  if (Number.isNaN(value)) return "-";
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(1);
}

function spreadText(values: readonly number[], unit: string): string {
  const { median, min, max } = spreadOf(values);
  const range = values.length > 1 ? ` (${rounded(min)}..${rounded(max)})` : "";
  return `${rounded(median)} ${unit}${range}`;
}

function ratioText(ratios: readonly number[] | undefined): string {
  if (ratios === undefined) return "";
  const { median, min, max } = spreadOf(ratios);
  return ratios.length > 1
    ? `${median.toFixed(2)} (${min.toFixed(2)}..${max.toFixed(2)})`
    : median.toFixed(2);
}

function wantedText({ wanted, figure }: Measurement): string {
  if (wanted === undefined) return "";
  const sign = wanted.is === "at least" ? ">=" : "<";
  return wanted.of === "ratio" ? `ratio ${sign} ${wanted.limit}` : `${sign} ${wanted.limit} ${figure.unit}`;
}

function verdictText(measurement: Measurement): string {
  const met = isMet(measurement);
  if (met === undefined) return "";
  return met ? "ok" : "MISSED";
}

const heads = ["what", "figure", "floor", "ratio", "wanted", "", "note"] as const;

function cellsOf(measurement: Measurement): readonly string[] {
  const { suite, what, figure, floor, ratios, note } = measurement;
  return [
    `${suite}: ${what}`,
    spreadText(figure.values, figure.unit),
    floor === undefined ? "" : spreadText(floor.values, floor.unit),
    ratioText(ratios),
    wantedText(measurement),
    verdictText(measurement),
    note ?? "",
  ];
}

/** Lines of the table: medians, and in brackets the lowest and highest of all rounds. */
export function tableOf(measurements: readonly Measurement[]): string[] {
  const rows = [heads, ...measurements.map(cellsOf)];
  const widths = heads.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

export interface Surroundings {
  readonly at: string;
  readonly node: string;
  readonly processors: number;
  readonly loadBefore: number;
  readonly loadAfter: number;
}

export function jsonOf(measurements: readonly Measurement[], surroundings: Surroundings): string {
  const results = measurements.map((measurement) => ({
    ...measurement,
    median: medianOf(measurement.figure.values),
    ratio: measurement.ratios === undefined ? undefined : medianOf(measurement.ratios),
    isMet: isMet(measurement),
  }));
  return `${JSON.stringify({ ...surroundings, results }, null, 2)}\n`;
}
