/** What `dropgate check` says of the machine around it, by the real program. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CheckFinding } from "../../src/app/checks/check-finding.ts";
import { company, program, Site } from "../support/daemon.ts";
import { makeAuthority } from "../support/certificates.ts";
import { runProgram } from "../support/run-program.ts";

let site: Site;

beforeAll(async () => {
  site = await Site.make();
});
afterAll(() => site.end());

/** As with `--json`, and the text of the same findings. */
async function check(env: NodeJS.ProcessEnv = {}) {
  const run = (...args: string[]) =>
    runProgram(program, ["check", "--config", site.configFile, ...args], { env: { ...process.env, ...env } });
  const { stdout, exitCode } = await run("--json");
  return { exitCode, findings: JSON.parse(stdout) as CheckFinding[], text: (await run()).stdout };
}

function about(findings: readonly CheckFinding[], part: string): CheckFinding | undefined {
  return findings.find(({ what }) => what.includes(part));
}

describe("the systemd unit", () => {
  test("that does not let the service write a drop folder is named with the commands for a drop-in, which help", async () => {
    const units = join(site.folder, "units");
    // Not below /tmp, which the unit has of its own.
    const [share, unit] = ["/srv/dropgate-check-test", join(units, "dropgate.service")];
    await mkdir(units);
    const shipped = await readFile(new URL("../../systemd/dropgate.service", import.meta.url), "utf8");
    await writeFile(
      unit,
      `${shipped.replace("/etc/dropgate/dropgate.yaml", site.configFile)}\n[Service]\nPrivateTmp=no\nReadWritePaths=${site.stateDir}\n`,
    );
    await site.configure({ companies: { [company]: { folders: [{ path: share }] } } });
    const before = await check({ SYSTEMD_UNIT_PATH: units });
    expect(before.exitCode).toBe(2);
    const finding = about(before.findings, "dropgate.service");
    expect(finding).toMatchObject({
      status: "problem",
      what: `the unit dropgate.service (${unit}) does not let the service write ${share}, a drop folder of ${company} (ProtectSystem=strict)`,
    });
    expect(before.text).toContain(`problem  ${finding?.what}  → ${finding?.remedy}`);
    const [made, written] = finding?.remedy?.replace("as root: ", "").split(" && ") ?? [];
    const commands = `${made} && ${written}`.replaceAll("/etc/systemd/system", units);
    expect((await runProgram("sh", ["-c", commands])).exitCode).toBe(0);
    const after = await check({ SYSTEMD_UNIT_PATH: units });
    expect(about(after.findings, "dropgate.service")?.status).toBe("ok");
    expect(after.exitCode).toBe(0);
  });
});

describe("certificates", () => {
  test("of the server and of a client are named with their last day before it comes, and when it is over", async () => {
    const folder = join(site.folder, "certificates");
    await mkdir(folder);
    const authority = await makeAuthority(folder);
    const server = await authority.issue("server", { days: 20 });
    const client = await authority.issue("client", { days: 3 });
    const late = await authority.issue("late", { days: -1 });
    const https = { type: "https", url: "https://tms.example.com/", ca: authority.caFile };
    const targetOf = ({ certificateFile, keyFile }: typeof client) => ({
      ...{ ...https, certificate: certificateFile, privateKey: keyFile },
    });
    await site.configure({
      http: { tls: { certFile: server.certificateFile, keyFile: server.keyFile } },
      companies: { [company]: { outbound: { targets: { tms: targetOf(client), old: targetOf(late) } } } },
    });
    const { findings, text, exitCode } = await check();
    expect(exitCode).toBe(0);
    expect(about(findings, server.certificateFile)).toMatchObject({
      status: "warning",
      what: expect.stringMatching(/valid until \d{4}-\d\d-\d\dT.*: (19|20) days left$/),
      remedy: "renew it, then reload, soon",
    });
    expect(about(findings, client.certificateFile)?.remedy).toBe("get a new one, then reload, this week");
    expect(about(findings, `${late.certificateFile} of the target old of ${company} expired`)?.status).toBe(
      "warning",
    );
    expect(text).toContain(`warning  the client certificate ${client.certificateFile} of the target tms`);
    await site.configure({ http: { tls: { certFile: late.certificateFile, keyFile: late.keyFile } } });
    const over = await check();
    expect(over.exitCode).toBe(2);
    expect(about(over.findings, late.certificateFile)?.status).toBe("problem");
  });
});
