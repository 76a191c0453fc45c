/** The rules and the dashboard of `monitoring/`, with the real promtool and a real Prometheus that scrapes the program. */
import { readFileSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { metricTable } from "../../src/app/watch/metrics/metric-table.ts";
import type { Site } from "../support/daemon.ts";
import { anchorsIn, projectFolder } from "../support/markdown.ts";
import { measuredSite } from "../support/measured-site.ts";
import { isInstalled, runProgram } from "../support/run-program.ts";
import { freePort, type ServerProcess, startServer } from "../support/server-process.ts";
import { send, stopFile } from "../support/stop-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/wait-for.ts";

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

interface RuleTest {
  readonly alert_rule_test: readonly {
    readonly alertname: string;
    readonly eval_time: string;
    readonly exp_alerts: readonly object[];
  }[];
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const folder = join(projectFolder, "monitoring");
const read = (name: string) => readFileSync(join(folder, name), "utf8");
const { groups } = parse(read("alerts.yaml")) as { groups: readonly { rules: readonly Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const ruleTestFile = parse(read("alerts.test.yaml")) as { tests: readonly RuleTest[] };
const { tests: ruleTests } = ruleTestFile;
const { panels } = JSON.parse(read("dashboard.json")) as { panels: readonly Panel[] };
/** At each minute of two days and of four all rules would be evaluated, which takes ten seconds of a processor. */
const isOfDays = ({ alert_rule_test: cases }: RuleTest) =>
  cases.some(({ eval_time: at }) => Number(/^(\d+)h/.exec(at)?.[1] ?? 0) > 24);

/** Writes the tests with the rules that they are of, and no others; gives the file of the tests. */
function writeRuleTests(tests: readonly RuleTest[], into: string, name: string): string {
  const tested = new Set(tests.flatMap((one) => one.alert_rule_test.map(({ alertname }) => alertname)));
  const own = groups.map((group) => ({
    ...group,
    rules: group.rules.filter(({ alert }) => tested.has(alert)),
  }));
  const ruleFile = join(into, `${name}.rules.yaml`);
  // JSON is YAML.
  writeFileSync(ruleFile, JSON.stringify({ groups: own }));
  const file = join(into, `${name}.test.yaml`);
  writeFileSync(file, JSON.stringify({ ...ruleTestFile, rule_files: [ruleFile], tests }));
  return file;
}

/** As Grafana fills them in. */
const queries = panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({
    title,
    expr: expr.replaceAll("$__rate_interval", "1m").replaceAll(/\$\w+/g, ".*"),
  })),
);

const series = new Set(
  metricTable.flatMap(({ name, type }) =>
    type === "histogram" ? ["_bucket", "_sum", "_count"].map((end) => name + end) : [name],
  ),
);
const namesIn = (expr: string) => expr.match(/\b(?:dropgate|process)_\w+/g) ?? [];

describe("the rules and the dashboard", () => {
  test("name only series that there are", () => {
    const exprs = [...rules, ...queries].map(({ expr }) => expr);
    expect(exprs.flatMap(namesIn).filter((name) => !series.has(name))).toEqual([]);
    expect(exprs.length).toBeGreaterThan(80);
  });

  test("leave out no metric: each is in a panel", () => {
    const shown = new Set(queries.flatMap(({ expr }) => namesIn(expr)));
    const missing = metricTable.filter(
      ({ name, type }) => !shown.has(type === "histogram" ? `${name}_bucket` : name),
    );
    expect(missing.map(({ name }) => name)).toEqual([]);
  });

  test("each rule names a heading that says what to do", () => {
    const wrong = rules.filter(({ annotations: { runbook } }) => {
      const [page = "", anchor = ""] = runbook.split("#");
      return !anchorsIn(page).has(anchor);
    });
    expect(wrong.map(({ alert }) => alert)).toEqual([]);
  });

  test("each rule is seen to fire in a test of rules", () => {
    const fired = new Set(
      ruleTests
        .flatMap((one) => one.alert_rule_test)
        .filter(({ exp_alerts: expected }) => expected.length > 0)
        .map(({ alertname }) => alertname),
    );
    expect(rules.map(({ alert }) => alert).filter((alert) => !fired.has(alert))).toEqual([]);
  });
});

describe.skipIf(!isInstalled("promtool"))("promtool", () => {
  test("has no complaint about the rules, and their tests hold", async () => {
    const checked = await runProgram("promtool", ["check", "rules", join(folder, "alerts.yaml")]);
    expect(checked.output).toContain(`SUCCESS: ${rules.length} rules found`);
    // It makes much garbage in little memory: collected less often, it takes a fifth less of a processor.
    const made = temporaryFolder();
    const files = [
      writeRuleTests(ruleTests.filter(isOfDays), made, "days"),
      writeRuleTests(
        ruleTests.filter((one) => !isOfDays(one)),
        made,
        "minutes",
      ),
    ];
    const tested = await runProgram("promtool", ["test", "rules", ...files], {
      env: { ...process.env, GOGC: "400" },
    });
    expect(tested.output.match(/SUCCESS/g)).toHaveLength(files.length);
    expect(tested.output).not.toContain("FAILED");
    expect([checked.exitCode, tested.exitCode]).toEqual([0, 0]);
  });
});

describe.skipIf(!isInstalled("prometheus"))("a Prometheus that scrapes the program", () => {
  let site: Site;
  let server: ServerProcess;
  let base: string;

  async function api<T>(path: string, query: Readonly<Record<string, string>> = {}): Promise<T> {
    const answer = await fetch(`${base}/api/v1/${path}?${new URLSearchParams(query).toString()}`);
    const body = (await answer.json()) as { status: string; data: T; error?: string };
    if (body.status !== "success") throw new Error(`${path} ${JSON.stringify(query)}: ${body.error}`);
    return body.data;
  }

  async function resultOf(query: string) {
    return (await api<{ result: readonly { value: readonly [number, string] }[] }>("query", { query }))
      .result;
  }

  beforeAll(async () => {
    site = await measuredSite();
    // What shows since when something was done has to have been done.
    await send(site, stopFile("P1"));
    await site.mustRun("export");
    await site.mustRun("ledger", "verify");
    const port = await freePort();
    const config = {
      global: { scrape_interval: "1s", evaluation_interval: "1s" },
      rule_files: [join(folder, "alerts.yaml")],
      scrape_configs: [{ job_name: "dropgate", static_configs: [{ targets: [new URL(site.http).host] }] }],
    };
    const file = join(site.folder, "prometheus.yml");
    writeFileSync(file, JSON.stringify(config));
    const data = join(site.folder, "prometheus");
    await mkdir(data);
    const args = [
      `--config.file=${file}`,
      `--storage.tsdb.path=${data}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ];
    server = await startServer("prometheus", args, port);
    base = `http://127.0.0.1:${port}`;
    // A rate needs two scrapes.
    await waitFor("some scrapes", async () => {
      const [count] = await resultOf('sum_over_time(up{job="dropgate"}[1m])').catch(() => []);
      return Number(count?.value[1] ?? 0) >= 3;
    });
  });
  afterAll(async () => {
    await server?.end();
    await site?.end();
  });

  test.each(queries)("has an answer to the panel $title: $expr", async ({ expr }) => {
    expect((await resultOf(expr)).length).toBeGreaterThan(0);
  });

  test("evaluates each rule, and none fires while all is well", async () => {
    await waitFor("each rule to be evaluated", async () => {
      const found = await api<{ groups: readonly { rules: readonly { health: string }[] }[] }>("rules");
      const health = found.groups.flatMap((group) => group.rules.map((rule) => rule.health));
      return health.length === rules.length && health.every((one) => one === "ok");
    });
    const { alerts } = await api<{ alerts: readonly { state: string; labels: object }[] }>("alerts");
    expect(alerts.filter(({ state }) => state === "firing")).toEqual([]);
  });
});
