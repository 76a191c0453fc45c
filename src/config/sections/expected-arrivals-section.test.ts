import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { expectedArrivalsOf } from "../company-settings.ts";
import { loadConfig } from "../load-config.ts";
import { formatConfigFaults } from "../reader/config-fault.ts";

async function load(expectation: string) {
  const path = join(temporaryFolder(), "dropgate.yaml");
  writeFileSync(path, `companies: {ACME: {expectedArrivals: {morning: {${expectation}}}}}`);
  return await loadConfig({ path, env: {}, cwd: "/" });
}

describe("an expectation of files", () => {
  test("is of one file a day, at any day, unless it says otherwise", async () => {
    const outcome = await load('until: "07:00"');
    if (outcome.kind === "faulty") throw new Error(formatConfigFaults(outcome.faults));
    expect(expectedArrivalsOf(outcome.config, "acme").get("morning")).toEqual({
      ...{ atLeast: 1, until: "07:00", zone: "UTC", closedDays: [], functions: [] },
      weekdays: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
    });
    expect(expectedArrivalsOf(outcome.config, "OTHER").size).toBe(0);
  });

  test.each([
    ["it has no deadline", "atLeast: 2", /morning.*until/],
    ["the deadline is no time", "until: noon", /until.*a time of day such as 08:00/],
    ["it begins at the end of a day", 'until: "07:00", from: "24:00"', /from.*a time of day such as 21:00/],
    ["the zone is none", 'until: "07:00", zone: Berlin', /zone: `Berlin` is not a time zone/],
    ["the zone has one offset all the year", 'until: "07:00", zone: CET', /zone: `CET` is not a time zone/],
    ["a holiday is no date", 'until: "07:00", closedDays: [2026-02-30]', /closedDays\[0\].*no real date/],
    ["no day is left", 'until: "07:00", weekdays: []', /weekdays: is empty.*name a day/],
    ["a day is none", 'until: "07:00", weekdays: [monday]', /weekdays/],
    [
      "the remote is not there",
      'until: "07:00", channel: "remote:partner"',
      /names the remote partner.*has not/,
    ],
    [
      "the channel is none",
      'until: "07:00", channel: mail',
      /sftp, ftp, folder, recovered, remote or remote:NAME/,
    ],
    ["none are expected", 'until: "07:00", atLeast: 0', /atLeast/],
  ])("is refused when %s", async (_, expectation, fault) => {
    const outcome = await load(expectation);
    expect(formatConfigFaults(outcome.kind === "faulty" ? outcome.faults : [])).toMatch(fault);
  });

  test.each([
    ["each day", 3, ""],
    ["on work days", 5, ", weekdays: [mon, tue, wed, thu, fri]"],
    ["once a week", 9, ", weekdays: [mon]"],
    [
      "on work days with holidays",
      7,
      ", weekdays: [mon, tue, wed, thu, fri], closedDays: [2026-12-25, 2026-12-28]",
    ],
  ])("that counts %s is refused when the ledger forgets within %i days", async (_, days, rest) => {
    const faultsWith = async (own: string, site: string) => {
      const path = join(temporaryFolder(), "dropgate.yaml");
      const ages = (ledger: string) => `{archive: 1, error: 1, receipts: 1, ledger: ${ledger}}`;
      const company = `expectedArrivals: {morning: {until: "07:00"${rest}}}${own && `, retention: ${ages(own)}`}`;
      writeFileSync(path, `retention: ${ages(site)}\ncompanies: {ACME: {${company}}}`);
      const outcome = await loadConfig({ path, env: {}, cwd: "/" });
      return formatConfigFaults(outcome.kind === "faulty" ? outcome.faults : []);
    };
    const why = `is ${days - 1}, and companies.ACME.expectedArrivals.morning counts files for up to ${days} days`;
    expect(await faultsWith("", `${days - 1}`)).toContain(`retention.ledger: ${why}`);
    expect(await faultsWith(`${days - 1}`, "keep")).toContain(`companies.ACME.retention.ledger: ${why}`);
    expect([await faultsWith("", `${days}`), await faultsWith("", "keep")]).toEqual(["", ""]);
  });
});
