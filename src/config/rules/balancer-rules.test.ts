import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { loadConfig } from "../load-config.ts";
import { formatConfigFaults } from "../reader/config-fault.ts";

async function load(settings: object) {
  const folder = temporaryFolder();
  const path = join(folder, "dropgate.yaml");
  writeFileSync(path, JSON.stringify({ stateDir: "/var/lib/dropgate", ...settings }));
  return await loadConfig({ path, env: {}, cwd: folder });
}

async function warningsOf(settings: object): Promise<readonly string[]> {
  const outcome = await load(settings);
  if (outcome.kind === "faulty") throw new Error(formatConfigFaults(outcome.faults));
  return outcome.warnings.map((fault) => formatConfigFaults([fault]));
}

test.each([
  ["sftp", "0.0.0.0/0"],
  ["ftp", "::/0"],
  ["http", "128.0.0.0/1"],
])("%s.proxyProtocolFrom %s is warned of: anybody may say to be anybody", async (name, range) => {
  const [warning = "", ...more] = await warningsOf({ [name]: { proxyProtocolFrom: ["10.0.0.4", range] } });
  expect(more).toEqual([]);
  expect(warning).toContain(`${name}.proxyProtocolFrom`);
  expect(warning).toContain(`is world-wide (${range})`);
});

test.each(["10.0.0.0/23", "203.0.113.0/16", "2001:db8::/48"])(
  "a range with addresses that clients may have, as %s, is warned of",
  async (range) => {
    const [warning = "", ...more] = await warningsOf({ sftp: { proxyProtocolFrom: [range] } });
    expect(more).toEqual([]);
    expect(warning).toContain(`has addresses that clients may have (${range})`);
  },
);

test("balancers by their addresses, or on one network, are not warned of", async () => {
  const proxyProtocolFrom = ["10.0.0.4", "10.0.1.0/24", "2001:db8::4", "2001:db8:0:1::/64"];
  const section = { proxyProtocolFrom };
  const settings = { http: section, console: { port: 8444, ...section }, sftp: section, ftp: section };
  expect(await warningsOf(settings)).toEqual([]);
});

test("balancers of a console that has no port of its own are refused", async () => {
  const outcome = await load({ console: { proxyProtocolFrom: ["10.0.0.4"] } });
  if (outcome.kind !== "faulty") throw new Error("it was taken");
  expect(formatConfigFaults(outcome.faults)).toContain("has no effect without console.port");
});
