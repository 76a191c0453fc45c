/** Files a minute and the time to their receipts, of all companies of the scope together. */
import type { Scope } from "../../../endpoints/http/console/console-services.ts";
import type {
  RatePoint,
  RateSpan,
  RatesAsked,
  RatesFound,
} from "../../../endpoints/http/console/pages/today/today-view.ts";
import { delayQuantile } from "../../../domain/files/delay-counts.ts";
import { dayMs, hourMs, minuteMs } from "../../../lib/durations.ts";
import { addRates, type FileRate, listFileRates, type RateStep } from "../../../store/ledger/file-rates.ts";
import type { QueryContext } from "../query-context.ts";

interface Span {
  readonly lengthMs: number;
  /** Of the rows that are read. */
  readonly rowMinutes: RateStep;
  /** Of the points that are shown: some hundred. */
  readonly stepMinutes: number;
}

const spans: Readonly<Record<RateSpan, Span>> = {
  "4h": { lengthMs: 4 * hourMs, rowMinutes: 1, stepMinutes: 1 },
  "24h": { lengthMs: dayMs, rowMinutes: 1, stepMinutes: 5 },
  "14d": { lengthMs: 14 * dayMs, rowMinutes: 60, stepMinutes: 60 },
};

const nothing: FileRate = { applied: 0, refused: 0, others: 0, delays: new Map() };

function pointOf(at: number, { delays, ...counts }: FileRate): RatePoint {
  return { at, ...counts, medianMs: delayQuantile(delays, 0.5), p99Ms: delayQuantile(delays, 0.99) };
}

/** Points without a gap, and the percentiles of the span. */
export async function queryFileRates(
  { read, now }: QueryContext,
  { companies }: Scope,
  { span }: RatesAsked,
): Promise<RatesFound> {
  const { lengthMs, rowMinutes, stepMinutes } = spans[span];
  const stepMs = stepMinutes * minuteMs;
  const beginOf = (at: number) => at - (at % stepMs);
  const since = beginOf(now - lengthMs) + stepMs;
  const rates = new Map<number, FileRate>();
  for (const { id: companyId } of companies) {
    for (const rate of await listFileRates(read, { companyId, stepMinutes: rowMinutes, since })) {
      const at = beginOf(rate.at);
      rates.set(at, addRates(rates.get(at) ?? nothing, rate));
    }
  }
  const count = Math.floor((beginOf(now) - since) / stepMs) + 1;
  const starts = Array.from({ length: count }, (_, index) => since + index * stepMs);
  const whole = [...rates.values()].reduce(addRates, nothing);
  const { medianMs, p99Ms } = pointOf(since, whole);
  return { stepMinutes, points: starts.map((at) => pointOf(at, rates.get(at) ?? nothing)), medianMs, p99Ms };
}
