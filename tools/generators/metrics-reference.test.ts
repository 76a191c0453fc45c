/** The document of the metrics is what their table makes of it. `UPDATE_GENERATED=1` writes it anew. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { metricTable } from "../../src/app/watch/metrics/metric-table.ts";
import { renderMetricsReference } from "./render-metrics-reference.ts";

const projectFolder = resolve(import.meta.dirname, "../..");

test("docs/metrics.md is up to date with the table", () => {
  const file = join(projectFolder, "docs/metrics.md");
  if (process.env["UPDATE_GENERATED"] === "1") writeFileSync(file, renderMetricsReference());
  expect(readFileSync(file, "utf8")).toBe(renderMetricsReference());
});

test("each metric is defined once, and names a file that is there", () => {
  const names = metricTable.map(({ name }) => name);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  expect(names.length).toBeGreaterThan(40);
  const files = metricTable.map(({ countedIn }) => countedIn);
  expect(files.filter((file) => !existsSync(join(projectFolder, file)))).toEqual([]);
});

test("no label can name a person, a file or an address", () => {
  const allowed = [
    "company",
    "target",
    "remote",
    "export",
    "endpoint",
    "channel",
    "direction",
    "state",
    "outcome",
  ];
  allowed.push("reason", "kind", "stage", "route", "method", "status", "version", "commit", "node");
  const used = new Set(metricTable.flatMap(({ labels }) => labels));
  expect([...used].filter((label) => !allowed.includes(label))).toEqual([]);
});
