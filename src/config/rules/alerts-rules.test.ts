import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { formatConfigFaults } from "../reader/config-fault.ts";
import { alertKindSettingsOf, alertReceiversOf, isKindWatched } from "../alert-settings.ts";
import { loadConfig } from "../load-config.ts";
import type { Config } from "../schema.ts";

const folder = mkdtempSync(join(tmpdir(), "dropgate-alerts-"));
afterAll(() => rmSync(folder, { recursive: true }));

const email = { host: "smtp.example.com", from: "dropgate@example.com" };
const operator = "(operator)";

async function load(alerts: object, company?: object) {
  const path = join(folder, "dropgate.yaml");
  const companies = company === undefined ? {} : { ACME: { alerts: company } };
  writeFileSync(path, JSON.stringify({ alerts, companies }));
  return await loadConfig({ path, env: {}, cwd: folder });
}

async function loaded(alerts: object, company?: object): Promise<Config> {
  const outcome = await load(alerts, company);
  if (outcome.kind === "faulty") throw new Error(formatConfigFaults(outcome.faults));
  return outcome.config;
}

test.each([
  [{ to: ["ops@example.com"] }, {}, "alerts.to: cannot be told: alerts.email says by which server"],
  [{}, { to: ["a@acme.example"] }, "companies.ACME.alerts.to: cannot be told: alerts.email"],
  [{ email: { ...email, tls: "none" } }, undefined, "alerts.email.tls: none sends everything in plain text"],
  [
    { https: { url: "http://ops.example.com/" } },
    undefined,
    "alerts.https.url: sends everything in plain text",
  ],
  [
    { https: { url: "https://a.example/", user: "u" } },
    undefined,
    "alerts.https.user: has no effect without",
  ],
  [{ zone: "Europe/Nowhere" }, undefined, "alerts.zone: `Europe/Nowhere` is not a time zone"],
  [{}, { zone: "CET" }, "companies.ACME.alerts.zone: `CET` is not a time zone"],
  [{ to: ["nobody"] }, undefined, "alerts.to[0]"],
  [{ quietHours: [{ from: "8:00", to: "09:00" }] }, undefined, "alerts.quietHours[0].from"],
  [
    { quietHours: [{ from: "08:00", to: "09:00", days: ["someday"] }] },
    undefined,
    "alerts.quietHours[0].days[0]",
  ],
  [{ kinds: { refusedFiles: { count: 0 } } }, undefined, "alerts.kinds.refusedFiles.count"],
  [{ kinds: { nonsense: {} } }, undefined, "alerts.kinds.nonsense"],
  [{}, { kinds: { diskSpace: { enabled: false } } }, "companies.ACME.alerts.kinds.diskSpace"],
])("%j with %j of a company is refused: %s", async (alerts, company, fault) => {
  const outcome = await load(alerts, company);
  expect(outcome.kind === "faulty" ? formatConfigFaults(outcome.faults) : "").toContain(fault);
});

test.each([
  [{ email }, undefined, "alerts.email: is used by nobody"],
  [{}, { zone: "Europe/Berlin" }, "companies.ACME.alerts: tells nobody of this company"],
])("%j with %j of a company is warned about: %s", async (alerts, company, warning) => {
  const outcome = await load(alerts, company);
  expect(outcome.kind === "loaded" ? formatConfigFaults(outcome.warnings) : "").toContain(warning);
});

test("kinds of a company that the operator alone is told of are no reason for a warning", async () => {
  const outcome = await load({}, { kinds: { refusedFiles: { count: 3 } } });
  expect(outcome.kind === "loaded" ? outcome.warnings : outcome).toEqual([]);
});

describe("settings", () => {
  test("of a kind are those of the company, else those of all, else the defaults", async () => {
    const kinds = { refusedFiles: { count: 20 } };
    const own = { to: ["a@acme.example"], kinds: { refusedFiles: { withinMinutes: 5 } } };
    const config = await loaded({ email, to: ["ops@example.com"], kinds }, own);
    const settings = { enabled: true, urgent: false, count: 20 };
    expect(alertKindSettingsOf(config, "acme", "refusedFiles")).toEqual({ ...settings, withinMinutes: 5 });
    expect(alertKindSettingsOf(config, "OTHER", "refusedFiles")).toEqual({ ...settings, withinMinutes: 60 });
  });

  test("without anybody who is told watch nothing", async () => {
    const config = await loaded({});
    expect(isKindWatched(config, "ACME", "refusedFiles")).toBe(false);
    expect(isKindWatched(config, operator, "diskSpace")).toBe(false);
  });

  test("watch what somebody is told of: a kind of companies in companies, one of the machine once", async () => {
    const config = await loaded({ email, ofCompanies: false, to: ["ops@example.com", "ops@example.com"] });
    expect(isKindWatched(config, operator, "diskSpace")).toBe(true);
    expect(isKindWatched(config, "ACME", "diskSpace")).toBe(false);
    expect(isKindWatched(config, "ACME", "refusedFiles")).toBe(false);
    expect(alertReceiversOf(config, operator)).toEqual(["ops@example.com"]);
    const ofAll = await loaded({ email, to: ["ops@example.com"] });
    expect(isKindWatched(ofAll, "ACME", "refusedFiles")).toBe(true);
  });
});
