/** `/metrics` of the real program: exactly the series of the table, from the first moment, and they count. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Metric } from "../../src/app/watch/metrics/metric.ts";
import { metricTable } from "../../src/app/watch/metrics/metric-table.ts";
import { consoleRoutes } from "../../src/endpoints/http/console/routes.ts";
import { sessionRoutes } from "../../src/endpoints/http/console/session/own-session.ts";
import { routes } from "../../src/endpoints/http/routes.ts";
import { http, sftp } from "../support/clients.ts";
import { company, type Site } from "../support/daemon.ts";
import { type Family, familiesIn, type Series, seriesValue } from "../support/exposition.ts";
import { measuredEnv, measuredSite, metricsOf } from "../support/measured-site.ts";
import { isInstalled, runProgram } from "../support/run-program.ts";
import { send, stopFile } from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";

let site: Site;
let first: readonly Family[];

beforeAll(async () => {
  site = await measuredSite();
  first = familiesIn(await metricsOf(site));
});
afterAll(async () => {
  await site?.end();
});

/** The labels of a metric, in the order of the table; buckets have `le` besides. */
function labelsOf({ name, labels: { le: _le, ...labels } }: Series): { name: string; labels: string[] } {
  return { name, labels: Object.keys(labels) };
}

function seriesNamesOf({ name, type }: Metric): readonly string[] {
  return type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];
}

describe("at the first start", () => {
  test("each metric of the table is there, and none besides, with its type, help, labels and buckets", () => {
    expect(first.map(({ name, type, help }) => ({ name, type, help }))).toEqual(
      metricTable.map(({ name, type, help }) => ({ name, type, help })),
    );
    for (const [at, metric] of metricTable.entries()) {
      const series = first[at]?.series ?? [];
      for (const one of series) expect(labelsOf(one).labels, metric.name).toEqual(metric.labels);
      expect([...new Set(series.map(({ name }) => name))]).toEqual(seriesNamesOf(metric));
      if (metric.type !== "histogram") continue;
      const bounds = new Set(series.flatMap(({ labels }) => labels["le"] ?? []));
      expect([...bounds], metric.name).toEqual([...metric.buckets.map(String), "+Inf"]);
    }
  });

  test("each series is at 0, unless the table says otherwise", () => {
    const zero = new Set(metricTable.filter(({ atStart }) => atStart === undefined).map(({ name }) => name));
    const others = first
      .filter(({ name }) => zero.has(name))
      .flatMap(({ series }) => series)
      .filter(({ value }) => value !== 0);
    expect(others).toEqual([]);
    expect(zero.size).toBeGreaterThan(30);
  });

  test("a company, a target, a route have all their series", () => {
    const countOf = (name: string) => first.find((family) => family.name === name)?.series.length;
    expect(countOf("dropgate_files_decided_total")).toBe(4);
    const targets = countOf("dropgate_deliveries_open") ?? 0;
    expect(targets).toBeGreaterThan(0);
    expect(countOf("dropgate_delivery_attempts_total")).toBe(6 * targets);
    // The sign-in of the console is shown and taken.
    const pages = consoleRoutes.length + sessionRoutes.length + 2;
    expect(countOf("dropgate_http_requests_total")).toBe(6 * (routes.length + pages + 1));
    expect(countOf("dropgate_uploads_total")).toBe(4);
  });

  test.skipIf(!isInstalled("promtool"))("promtool has no complaint", async () => {
    const checked = await runProgram("promtool", ["check", "metrics"], { input: await metricsOf(site) });
    expect(checked.output).toBe("");
    expect(checked.exitCode).toBe(0);
  });
});

describe("what happens is counted:", () => {
  test("a file over SFTP, from its sign-in to its receipt", async () => {
    await send(site, stopFile("M1"));
    await waitFor(
      "the receipt",
      async () =>
        seriesValue(await metricsOf(site), "dropgate_receipt_delay_seconds_count", { channel: "sftp" }) === 1,
    );
    const text = await metricsOf(site);
    const now = Date.now() / 1000;
    expect(seriesValue(text, "dropgate_files_decided_total", { company, state: "applied" })).toBe(1);
    expect(
      seriesValue(text, "dropgate_sign_ins_total", { endpoint: "sftp", outcome: "accepted" }),
    ).toBeGreaterThan(0);
    expect(seriesValue(text, "dropgate_uploads_total", { endpoint: "sftp", outcome: "complete" })).toBe(1);
    const bytes = seriesValue(text, "dropgate_transferred_bytes_total", {
      endpoint: "sftp",
      direction: "in",
    });
    expect(bytes).toBe(Buffer.byteLength(String(stopFile("M1").content)));
    const applied = seriesValue(text, "dropgate_files_last_applied_timestamp_seconds", { company });
    expect(Math.abs(now - applied)).toBeLessThan(600);
  });

  test("a refused file, by its reason; a request, by its route and status; a failed sign-in", async () => {
    await send(site, { name: "m2_20261105_080000.xml", content: "<Stop>" });
    await waitFor(
      "the refusal",
      async () => seriesValue(await metricsOf(site), "dropgate_files_refused_total", { reason: "950" }) === 1,
    );
    await http(site, `/v5/stop/info/M1/${company}`);
    await http(site, `/v5/stop/info/nobody/${company}`);
    await http(site, "/nothing");
    await http(site, `/v5/stop/info/M1/${company}`, { password: "wrong" });
    const text = await metricsOf(site);
    const route = routes.find(({ path }) => path === "/stop/info/{stopNbr}/{companyCode}")?.name ?? "";
    const requests = (status: string) => seriesValue(text, "dropgate_http_requests_total", { route, status });
    expect([requests("2xx"), requests("4xx"), requests("5xx")]).toEqual([1, 2, 0]);
    expect(seriesValue(text, "dropgate_http_requests_total", { route: "none", status: "4xx" })).toBe(1);
    expect(seriesValue(text, "dropgate_http_request_duration_seconds_count", { route })).toBe(3);
    expect(seriesValue(text, "dropgate_sign_ins_total", { endpoint: "http", outcome: "refused" })).toBe(1);
  });

  test("the download of a receipt", async () => {
    await sftp(site, ["get receipts/m1_20261105_080000.receipt.xml here.xml"]);
    const out = seriesValue(await metricsOf(site), "dropgate_transferred_bytes_total", {
      ...{ endpoint: "sftp", direction: "out" },
    });
    expect(out).toBeGreaterThan(100);
  });

  test("a verification of the ledger by a command, and a reload that fails and one that does not", async () => {
    await site.mustRun("ledger", "verify");
    expect(
      seriesValue(await metricsOf(site), "dropgate_ledger_last_verification_timestamp_seconds"),
    ).toBeGreaterThan(0);
    const isGood = async () => seriesValue(await metricsOf(site), "dropgate_config_last_reload_successful");
    const readAt = async () =>
      seriesValue(await metricsOf(site), "dropgate_config_last_reload_success_timestamp_seconds");
    const before = await readAt();
    await site.reconfigure({ log: { level: "loud" } });
    site.daemon.process.kill("SIGHUP");
    await waitFor("the refused reload", async () => (await isGood()) === 0);
    expect(await readAt()).toBe(before);
    await site.reconfigure({ log: { level: "info" } });
    site.daemon.process.kill("SIGHUP");
    await waitFor("the reload", async () => (await isGood()) === 1);
    expect(await readAt()).toBeGreaterThanOrEqual(before);
  });
});

test("after a restart it is still known when a file was last applied, and what the last verification found", async () => {
  const kept = [
    "dropgate_files_last_applied_timestamp_seconds",
    "dropgate_ledger_last_verification_timestamp_seconds",
  ];
  const read = async () => {
    const text = await metricsOf(site);
    return kept.map((name) => seriesValue(text, name));
  };
  const before = await read();
  await site.stop();
  await site.start({ env: measuredEnv });
  await waitFor("the kept times", async () => (await read()).every((at) => at > 0));
  expect(await read()).toEqual(before);
});
