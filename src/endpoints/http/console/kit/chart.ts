/** Charts over time: the numbers go along, and a script draws them. Each page shows the same as a table too. */
import { type Html, html } from "./html.ts";

export interface Chart {
  readonly title: string;
  /** What the moments are called. */
  readonly when: string;
  /** What the values are: milliseconds when they are lengths of time. */
  readonly unit: "count" | "ms" | "bytes";
  /** Seconds UTC. */
  readonly at: readonly number[];
  readonly series: readonly {
    readonly label: string;
    /** The name of its colour. */
    readonly kind: "ok" | "bad" | "wait" | "off" | "strong";
    readonly values: readonly (number | null)[];
  }[];
}

export function chart(drawn: Chart): Html {
  return html`<figure class="chart" role="img" aria-label="${drawn.title}" data-chart="${JSON.stringify(drawn)}"><figcaption>${drawn.title}</figcaption></figure>`;
}

/** Longer than that a table is read by nobody. */
export const mostChartRows = 300;

export interface SpanLinks<Span extends string> {
  readonly label: string;
  readonly spans: readonly Span[];
  readonly shown: Span;
  readonly texts: Readonly<Record<Span, string>>;
  addressOf(span: Span): string;
}

/** Links to the same over another time. */
export function spanLinks<Span extends string>(links: SpanLinks<Span>): Html {
  const { label, spans, shown, texts, addressOf } = links;
  const items = spans.map(
    (span) =>
      html`<li><a href="${addressOf(span)}"${span === shown ? html` aria-current="true"` : ""}>${texts[span]}</a></li>`,
  );
  return html`<nav class="spans" aria-label="${label}"><ul>${items}</ul></nav>`;
}
