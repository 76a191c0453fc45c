/** Writes `docs/metrics.md`: a hand-written introduction, and the table of metrics in its groups. */
import type { Metric } from "../../src/app/watch/metrics/metric.ts";
import { metricGroups } from "../../src/app/watch/metrics/metric-table.ts";

const introduction = `# Metrics

<!-- Generated from src/app/watch/metrics; change the table there, then run the tests with UPDATE_GENERATED=1. -->

\`GET /metrics\` has all figures in the text form of Prometheus, for the addresses of \`http.metricsFrom\` and without a
sign-in ([HTTP](http-api.md#metrics)). The folder \`monitoring/\` has alert rules and a dashboard that use them
([Monitoring](monitoring.md)).

- A series is there from the start, with 0 before its first event; *At the start* names what begins otherwise. Series of
  a company, target, remote or export are there as long as it is; those of SFTP and FTP as long as they listen.
- Counters and histograms begin anew with the process. Times are seconds since 1970, UTC, and 0 means never.
- Labels have few values each: no user, no file, no address is ever one. \`reason\` of refused files is a
  [reason code](errors.md), \`route\` the name of an operation in the
  [API document](http-api.md#openapi-document-and-page) (\`none\`: no operation has that path or method), \`status\`
  the class of the HTTP status.
- While the database cannot be read, figures that come from it stay as they were read last;
  \`dropgate_database_faults_total\` counts meanwhile. A disk that does not say how full it is makes its figures \`NaN\`.

Where several nodes share a database, each has figures at its own address. How they go together:

| Figures | Of several nodes |
|---|---|
| \`dropgate_imports_waiting…\`, \`dropgate_ledger_…\`, \`dropgate_export_…\`, \`dropgate_open_incidents\`, \`dropgate_deliveries_held\`, \`dropgate_addresses_banned\`, \`dropgate_nodes\`, \`dropgate_database_size_bytes\`, \`dropgate_disk_…\` | the same on all: they are read from the database or the tree. Take one, by \`max\` |
| \`dropgate_files_waiting…\`, \`dropgate_files_held…\`, \`dropgate_files_unfiled\`, \`dropgate_expected_arrivals_late\`, \`dropgate_outbound_uncollected_files\` | only the node that has the company knows them, and 0 stands on the others. Add them up, and take ages by \`max\` |
| \`dropgate_deliveries_open\`, \`…_dead\` and \`…_oldest_age_seconds\`, \`dropgate_delivery_…\`, \`dropgate_target_…\`, \`dropgate_remote_…\` | the same, but the others have no such series |
| \`dropgate_files_last_applied_timestamp_seconds\` | the newest is right: take \`max\` |
| all other counters and histograms | each node counts what it has done itself. Add them up: \`sum(rate(…))\` |
| all others | of this node and its process: whether it is ready, its configuration, connections, certificates, leases |
`;

const head = "| Metric | Type | Labels | At the start | What it is | Counted in |\n|---|---|---|---|---|---|";

function typeOf(metric: Metric): string {
  return metric.type === "histogram" ? `histogram: ${metric.buckets.join(", ")}` : metric.type;
}

function rowOf(metric: Metric): string {
  const { name, labels, help, countedIn, atStart = "0" } = metric;
  const cells = [
    `\`${name}\``,
    typeOf(metric),
    labels.map((label) => `\`${label}\``).join(", "),
    atStart,
    help,
    `\`${countedIn}\``,
  ];
  return `| ${cells.join(" | ")} |`;
}

/** The text of `docs/metrics.md`. */
export function renderMetricsReference(): string {
  const groups = metricGroups.map(
    ([title, metrics]) => `## ${title}\n\n${head}\n${metrics.map(rowOf).join("\n")}\n`,
  );
  return [introduction, ...groups].join("\n");
}
