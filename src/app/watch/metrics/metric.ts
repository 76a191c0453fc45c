/** What a metric is, and what the rows of the table have in common. */
import type { Histogram } from "../../../lib/histogram.ts";
import type { Figures } from "./figures.ts";

/** One series: the values of its labels, in the order of the metric's labels, and its value. */
export type Sample<Value> = readonly [labels: readonly string[], value: Value];

interface MetricBase {
  readonly name: string;
  /** One sentence or two, without a line break. */
  readonly help: string;
  /** Of bounded kinds alone: never a user, a file or an address. */
  readonly labels: readonly string[];
  /** The file of the source that counts it, or from which it is read. */
  readonly countedIn: string;
  /** What it is right after the first start; 0 unless given. */
  readonly atStart?: string;
}

export interface NumberMetric extends MetricBase {
  readonly type: "counter" | "gauge";
  readonly samples: (figures: Figures) => readonly Sample<number>[];
}

export interface HistogramMetric extends MetricBase {
  readonly type: "histogram";
  /** Upper bounds. */
  readonly buckets: readonly number[];
  readonly samples: (figures: Figures) => readonly Sample<Histogram>[];
}

export type Metric = NumberMetric | HistogramMetric;

/** The one sample of a metric without labels. */
export function one<Value>(value: Value): readonly Sample<Value>[] {
  return [[[], value]];
}

/** A sample for each company, in its order. */
export function eachCompany(
  { stored }: Figures,
  read: (id: number, code: string) => number,
): readonly Sample<number>[] {
  return stored.companies.map(({ id, code }) => [[code], read(id, code)]);
}

/** Milliseconds UTC as the seconds of Prometheus. */
export function seconds(ms: number | null | undefined): number {
  return Math.floor((ms ?? 0) / 1000);
}

export function flag(isSet: boolean): number {
  return isSet ? 1 : 0;
}
