/** Files a minute and the time to their receipts, as two charts and as a table. */
import { countText } from "../../kit/amounts.ts";
import { chart, mostChartRows, spanLinks } from "../../kit/chart.ts";
import { type Html, html } from "../../kit/html.ts";
import type { Addresses } from "../../kit/link.ts";
import { nothing } from "../../kit/notice.ts";
import { details, section } from "../../kit/section.ts";
import { table } from "../../kit/table.ts";
import { durationText, timeText } from "../../kit/times.ts";
import { words } from "../../words/words.ts";
import { type RateSpan, type RatesFound, rateSpans } from "./today-view.ts";

const said = words.today.rates;

function chartsOf({ points, stepMinutes }: RatesFound): Html {
  const at = points.map((point) => point.at / 1_000);
  const aMinute = (count: number) => Math.round((count / stepMinutes) * 100) / 100;
  const length = (ms: number | undefined) => (ms === undefined ? null : Math.round(ms * 10) / 10);
  return html`<div class="columns">${[
    chart({
      ...{ title: said.perMinute, when: said.from, unit: "count", at },
      series: [
        { label: said.applied, kind: "ok", values: points.map((point) => aMinute(point.applied)) },
        { label: said.refused, kind: "bad", values: points.map((point) => aMinute(point.refused)) },
        { label: said.others, kind: "off", values: points.map((point) => aMinute(point.others)) },
      ],
    }),
    chart({
      ...{ title: said.toReceipt, when: said.from, unit: "ms", at },
      series: [
        { label: said.median, kind: "strong", values: points.map(({ medianMs }) => length(medianMs)) },
        { label: said.p99, kind: "wait", values: points.map(({ p99Ms }) => length(p99Ms)) },
      ],
    }),
  ].map((one) => html`<div class="column">${one}</div>`)}</div>`;
}

function lengthText(ms: number | undefined): string {
  return ms === undefined ? words.kit.none : durationText(ms);
}

/** Times without a file are left out. */
function tableOf({ points }: RatesFound): Html {
  const counts = [said.applied, said.refused, said.others, said.median, said.p99];
  const rows = points
    .filter(({ applied, refused, others, p99Ms }) => applied + refused + others > 0 || p99Ms !== undefined)
    .slice(-mostChartRows)
    .toReversed()
    .map(({ at, applied, refused, others, medianMs, p99Ms }) => [
      timeText(at),
      ...[countText(applied), countText(refused), countText(others), lengthText(medianMs), lengthText(p99Ms)],
    ]);
  const head = [said.from, ...counts.map((text) => ({ text, isNumber: true }))];
  return table(head, rows, { caption: said.title, isCaptionHidden: true, empty: said.none });
}

function spansOf(shown: RateSpan, to: Addresses): Html {
  const addressOf = (span: RateSpan) => `${to.at("", { span })}#rates`;
  return spanLinks({ label: said.spanOf, spans: rateSpans, shown, texts: said.spans, addressOf });
}

export function ratesSection(found: RatesFound, span: RateSpan, to: Addresses): Html {
  const { medianMs, p99Ms } = found;
  const content =
    medianMs === undefined
      ? nothing(said.none)
      : html`<p>${said.summary(lengthText(medianMs), lengthText(p99Ms))}</p>${chartsOf(found)}${details(said.asTable, tableOf(found))}`;
  return section(said.title, content, { id: "rates", tools: spansOf(span, to) });
}
