/**
 * The one table of all metrics: name, type, help, labels, buckets, and where each is counted. `/metrics`, its document and
 * the checks of the rules and the dashboard in `monitoring/` come from it.
 */
import { clientMetrics } from "./client-metrics.ts";
import { inboundMetrics } from "./inbound-metrics.ts";
import type { Metric } from "./metric.ts";
import { nodeMetrics } from "./node-metrics.ts";
import { outboundMetrics } from "./outbound-metrics.ts";
import { programMetrics } from "./program-metrics.ts";
import { storeMetrics } from "./store-metrics.ts";

/** The groups, as the document has them. */
export const metricGroups: readonly (readonly [title: string, metrics: readonly Metric[]])[] = [
  ["The program", programMetrics],
  ["Files and imports", inboundMetrics],
  ["Clients", clientMetrics],
  ["Deliveries, exports and remotes", outboundMetrics],
  ["Database and disk", storeMetrics],
  ["Several nodes", nodeMetrics],
];

export const metricTable: readonly Metric[] = metricGroups.flatMap(([, metrics]) => metrics);
