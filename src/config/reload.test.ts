import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { formatConfigFaults } from "./reader/config-fault.ts";
import { loadConfig } from "./load-config.ts";
import { reloadDifference, reloadedConfig, shownDifference } from "./reload.ts";
import type { Config } from "./schema.ts";

let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "dropgate-reload-"));
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

async function loaded(content: string, env: NodeJS.ProcessEnv = {}): Promise<Config> {
  const path = join(folder, "dropgate.yaml");
  writeFileSync(path, content);
  const outcome = await loadConfig({ path, env, cwd: folder });
  if (outcome.kind === "faulty") throw new Error(formatConfigFaults(outcome.faults));
  return outcome.config;
}

const tls = "tls: {certFile: c, keyFile: k, keyPassphrase: 'env:PASS'}";

describe("a reload", () => {
  test.each([
    ["", "", []],
    ["", "http: {port: 8080, metricsFrom: [127.0.0.0/8, '::1/128']}", []],
    ["", "log: {level: debug}", ["log.level"]],
    ["", "http: {port: 81, maxConnections: 5}", ["http.port!", "http.maxConnections"]],
    ["", "stateDir: other", ["stateDir!"]],
    ["", "inbound: {parserThreads: 3, names: lenient}", ["inbound.names", "inbound.parserThreads!"]],
    ["", "security: {bans: {allow: [10.0.0.1]}}", ["security.bans.allow"]],
    ["", "sftp: {banner: hello}", ["sftp.banner!"]],
    ["", `http: {${tls}}`, ["http.tls!"]],
    [`http: {${tls}}`, "", ["http.tls!"]],
    [
      `http: {${tls}}`,
      "http: {tls: {certFile: d, keyFile: k}}",
      ["http.tls.certFile", "http.tls.keyPassphrase"],
    ],
    ["", "companies: {ACME: {}}", ["companies.ACME"]],
    [
      "companies: {ACME: {}, B: {}}",
      "companies: {ACME: {inbound: {names: strict}}}",
      ["companies.ACME.inbound.names", "companies.B"],
    ],
    ["companies: {ACME: {}}", "companies: {ACME: {folders: [{path: x}]}}", ["companies.ACME.folders"]],
  ])("from %j to %j changes %j", async (before, after, expected) => {
    const env = { PASS: "hunter2" };
    const changes = reloadDifference(await loaded(before, env), await loaded(after, env));
    expect(changes.map(({ path, needsRestart }) => `${path}${needsRestart ? "!" : ""}`)).toEqual(expected);
  });

  test("shows what a setting was and is, and never a secret", async () => {
    const before = await loaded(`http: {${tls}}\nlog: {level: info}`, { PASS: "hunter2" });
    const other = await loaded(`http: {${tls}}\nlog: {level: debug}`, { PASS: "hunter3" });
    expect(shownDifference(before, other)).toEqual([
      { path: "log.level", before: "info", after: "debug" },
      { path: "http.tls.keyPassphrase", before: "(secret)", after: "(secret), another one" },
    ]);
    const without = await loaded("log: {level: info}");
    const [added] = shownDifference(without, before);
    expect(added).toMatchObject({ path: "http.tls", after: { keyPassphrase: "(secret)" } });
    expect(JSON.stringify(added)).not.toContain("hunter");
  });

  test("sees that a secret has changed, though its reference has not", async () => {
    const before = await loaded(`http: {${tls}}`, { PASS: "one" });
    expect(reloadDifference(before, await loaded(`http: {${tls}}`, { PASS: "one" }))).toEqual([]);
    const changes = reloadDifference(before, await loaded(`http: {${tls}}`, { PASS: "two" }));
    expect(changes).toEqual([{ path: "http.tls.keyPassphrase", needsRestart: false }]);
  });

  test("puts in force what it can and keeps the old values of the rest", async () => {
    const before = await loaded("stateDir: one\ncompanies: {OLD: {}}");
    const after = await loaded("stateDir: two\nhttp: {port: 81, maxConnections: 5}\ncompanies: {NEW: {}}");
    const inForce = reloadedConfig(before, after);
    expect(inForce).toMatchObject({ stateDir: join(folder, "one"), http: { port: 8080, maxConnections: 5 } });
    expect(Object.keys(inForce.companies)).toEqual(["NEW"]);
    expect(Object.isFrozen(inForce) && Object.isFrozen(inForce.http)).toBe(true);
    expect(reloadDifference(inForce, after).every(({ needsRestart }) => needsRestart)).toBe(true);
  });
});
