/** How long deliveries wait for their targets: two charts for each, in words, and as a table. */
import { countText } from "../../kit/amounts.ts";
import { chart, mostChartRows, spanLinks } from "../../kit/chart.ts";
import { type Html, html } from "../../kit/html.ts";
import type { Addresses } from "../../kit/link.ts";
import { nothing } from "../../kit/notice.ts";
import { columns, details, section } from "../../kit/section.ts";
import { shortened } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { durationText, timeText } from "../../kit/times.ts";
import { words } from "../../words/words.ts";
import type { FilterTexts } from "./deliveries-filter.ts";
import { type LagPoint, type LagsFound, type LagSpan, lagSpans, type TargetLag } from "./lag-view.ts";

const said = words.deliveries.lag;

/** The span that the address asks for. */
export function readLagSpan(query: URLSearchParams): LagSpan {
  return lagSpans.find((span) => span === query.get("lag")) ?? "24h";
}

function lengthText(ms: number | undefined): string {
  return ms === undefined ? words.kit.none : durationText(ms);
}

function most(points: readonly LagPoint[], read: (point: LagPoint) => number | undefined): number {
  return points.reduce((largest, point) => Math.max(largest, read(point) ?? 0), 0);
}

function chartsOf({ name, points }: TargetLag): Html {
  const at = points.map((point) => Math.round(point.at / 1_000));
  const values = (read: (point: LagPoint) => number | undefined) =>
    points.map((point) => read(point) ?? null);
  const waiting = chart({
    ...{ title: said.waitingOf(name), when: said.at, unit: "count", at },
    series: [{ label: said.waiting, kind: "strong", values: values((point) => point.waiting) }],
  });
  const ages = chart({
    ...{ title: said.agesOf(name), when: said.at, unit: "ms", at },
    series: [
      { label: said.oldest, kind: "bad", values: values(({ oldestMs }) => oldestMs) },
      { label: said.longest, kind: "wait", values: values(({ longestMs }) => longestMs) },
    ],
  });
  return columns(waiting, ages);
}

/** Steps in which nothing waited or was delivered are left out. */
function tableOf({ name, points }: TargetLag): Html {
  const rows = points
    .filter(({ waiting, longestMs }) => waiting > 0 || longestMs !== undefined)
    .slice(-mostChartRows)
    .toReversed()
    .map(({ at, waiting, oldestMs, longestMs }) => [
      timeText(at),
      ...[countText(waiting), lengthText(oldestMs), lengthText(longestMs)],
    ]);
  const numbers = [said.waiting, said.oldest, said.longest].map((text) => ({ text, isNumber: true }));
  const options = { caption: said.asTable(name), isCaptionHidden: true, empty: said.quiet };
  return table([said.at, ...numbers], rows, options);
}

function targetPart(lag: TargetLag, isOfMany: boolean): Html {
  const { company, name, points } = lag;
  const last = points.at(-1);
  const longest = Math.max(
    most(points, ({ oldestMs }) => oldestMs),
    most(points, ({ longestMs }) => longestMs),
  );
  const peak = countText(most(points, ({ waiting }) => waiting));
  return html`<h3>${shortened(name, 60)}${isOfMany && html` <span class="company">${company}</span>`}</h3><p>${said.now(
    last?.waiting ?? 0,
    lengthText(last?.oldestMs),
  )} ${said.most(peak, durationText(longest))}</p>${chartsOf(lag)}${details(said.asTable(name), tableOf(lag))}`;
}

export interface LagShown {
  readonly span: LagSpan;
  /** The filter of the page, which the links to other spans keep. */
  readonly texts: FilterTexts;
  readonly to: Addresses;
  /** The viewer sees several companies. */
  readonly isOfMany: boolean;
}

export function lagSection(found: LagsFound, { span, texts, to, isOfMany }: LagShown): Html {
  const { targets, more, each } = found;
  const addressOf = (lag: LagSpan) => `${to.at("/deliveries", { ...texts, lag })}#lag`;
  const tools = spanLinks({ label: said.spanOf, spans: lagSpans, shown: span, texts: said.spans, addressOf });
  const parts =
    targets.length === 0 ? nothing(said.none) : targets.map((target) => targetPart(target, isOfMany));
  const rest = more === 0 ? "" : html`<p>${said.more(more)}</p>`;
  const estimated = each <= 1 ? "" : html`<p>${said.estimated(countText(Math.round(each)))}</p>`;
  return section(said.title, html`<p>${said.explained}</p>${estimated}${parts}${rest}`, { id: "lag", tools });
}
