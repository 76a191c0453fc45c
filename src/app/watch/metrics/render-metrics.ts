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

function histogramLines(name: string, labels: string, histogram: Histogram): string {
  const [before, braced] = labels === "" ? ["", ""] : [`${labels},`, `{${labels}}`];
  const counts = histogram.cumulated();
  const total = counts.at(-1) ?? 0;
  let text = "";
  for (const [at, bound] of histogram.bounds.entries())
    text += `${name}_bucket{${before}le="${bound}"} ${counts[at]}\n`;
  return `${text}${name}_bucket{${before}le="+Inf"} ${total}\n${name}_sum${braced} ${histogram.sum}\n${name}_count${braced} ${total}\n`;
}

function seriesLines(metric: Metric, figures: Figures): string {
  const { name } = metric;
  let text = "";
  if (metric.type === "histogram") {
    for (const [values, histogram] of metric.samples(figures))
      text += histogramLines(name, labelText(metric.labels, values), histogram);
    return text;
  }
  for (const [values, value] of metric.samples(figures))
    text +=
      values.length === 0 ? `${name} ${value}\n` : `${name}{${labelText(metric.labels, values)}} ${value}\n`;
  return text;
}

/** All series; a metric without any, such as one of targets where there are none, is left out. */
export function renderMetrics(metrics: readonly Metric[], figures: Figures): string {
  let text = "";
  for (const metric of metrics) {
    const lines = seriesLines(metric, figures);
    if (lines !== "")
      text += `# HELP ${metric.name} ${metric.help}\n# TYPE ${metric.name} ${metric.type}\n${lines}`;
  }
  return text;
}
