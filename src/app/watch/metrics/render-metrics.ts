/** Metrics in the text form that Prometheus reads. Nothing in them is secret, but they name companies. */
import type { Histogram } from "../../../lib/histogram.ts";
import type { Figures } from "./figures.ts";
import type { Metric } from "./metric.ts";

const unsafe = /[\\"\n]/;

function escapeLabel(text: string): string {
  if (!unsafe.test(text)) return text;
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

/** `company="ACME",state="applied"`, without braces. */
function labelText(names: readonly string[], values: readonly string[]): string {
  let text = "";
  for (let at = 0; at < names.length; at += 1)
    text += `${at === 0 ? "" : ","}${names[at]}="${escapeLabel(values[at] ?? "")}"`;
  return text;
}

function histogramLines(name: string, labels: string, histogram: Histogram): readonly string[] {
  const [before, braced] = labels === "" ? ["", ""] : [`${labels},`, `{${labels}}`];
  const counts = histogram.cumulated();
  const total = counts.at(-1) ?? 0;
  return [
    ...histogram.bounds.map((bound, at) => `${name}_bucket{${before}le="${bound}"} ${counts[at]}\n`),
    `${name}_bucket{${before}le="+Inf"} ${total}\n${name}_sum${braced} ${histogram.sum}\n${name}_count${braced} ${total}\n`,
  ];
}

function seriesLines(metric: Metric, figures: Figures): readonly string[] {
  const { name, labels } = metric;
  if (metric.type === "histogram")
    return metric
      .samples(figures)
      .flatMap(([values, histogram]) => histogramLines(name, labelText(labels, values), histogram));
  return metric
    .samples(figures)
    .map(([values, value]) =>
      values.length === 0 ? `${name} ${value}\n` : `${name}{${labelText(labels, values)}} ${value}\n`,
    );
}

/**
 * All series; a metric without any, such as one of targets where there are none, is left out. Each metric is joined by itself:
 * a text of a megabyte that grows piece by piece is a tree of pieces, through which the memory is searched again and again.
 */
export function renderMetrics(metrics: readonly Metric[], figures: Figures): string {
  const texts: string[] = [];
  for (const metric of metrics) {
    const lines = seriesLines(metric, figures);
    const { name, help, type } = metric;
    if (lines.length > 0) texts.push(`# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`, lines.join(""));
  }
  return texts.join("");
}
