import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { remoteSettingsOf } from "../company-settings.ts";
import { formatConfigFaults } from "../reader/config-fault.ts";
import { type LoadOutcome, loadConfig } from "../load-config.ts";
import { reloadDifference } from "../reload.ts";

const fingerprint = "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU";
const pinned = `hostKeys: ['${fingerprint}']`;
const sftp = `type: sftp, host: h, user: u, password: 'env:PASS', ${pinned}`;
let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "dropgate-remotes-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function load(remotes: string): Promise<LoadOutcome> {
  const path = join(folder, "dropgate.yaml");
  writeFileSync(path, `companies: {ACME: {remotes: {${remotes}}}}`);
  return loadConfig({ path, env: { PASS: "hunter2", KEY: "a key" }, cwd: folder });
}

async function faultsOf(remotes: string): Promise<string> {
  const outcome = await load(remotes);
  return formatConfigFaults(outcome.kind === "faulty" ? outcome.faults : outcome.warnings);
}

async function loaded(remotes: string) {
  const outcome = await load(remotes);
  if (outcome.kind === "faulty") throw new Error(formatConfigFaults(outcome.faults));
  return outcome.config;
}

describe("a remote", () => {
  test("has the defaults of its type and its secrets resolved", async () => {
    const config = await loaded(
      `a: {${sftp}, after: delete}, b: {type: ftps, host: h, user: u, password: 'env:PASS', after: leave, schedule: '*/5 * * * *', zone: Europe/Berlin}`,
    );
    const remotes = remoteSettingsOf(config, "acme");
    expect([...remotes.keys()]).toEqual(["a", "b"]);
    expect(remotes.get("a")).toMatchObject({
      ...{ port: 22, directory: ".", zone: "UTC", settleMs: 10_000, timeoutMs: 120_000, after: "delete" },
    });
    expect(remotes.get("b")).toMatchObject({ tls: "explicit", schedule: "*/5 * * * *" });
    expect(JSON.stringify([...remotes])).not.toContain("hunter2");
    expect(remoteSettingsOf(config, "OTHER").size).toBe(0);
  });

  test.each([
    ["after is not set", `a: {${sftp}}`, /after/],
    ["it moves nowhere", `a: {${sftp}, after: move}`, /a\.after.*set moveTo/],
    [
      "it moves and deletes",
      `a: {${sftp}, after: delete, moveTo: done}`,
      /moveTo.*has no effect with after: delete/,
    ],
    [
      "it moves to where it polls",
      `a: {${sftp}, after: move, directory: in/, moveTo: ./in}`,
      /would come again/,
    ],
    ["it has two times", `a: {${sftp}, after: leave, everyMs: 5000, schedule: '* * * * *'}`, /two ways/],
    ["its schedule is none", `a: {${sftp}, after: leave, schedule: '61 * * * *'}`, /minute/],
    ["its zone is none", `a: {${sftp}, after: leave, zone: CEST}`, /not a time zone/],
    ["nobody signs in", `a: {type: sftp, host: h, user: u, ${pinned}, after: leave}`, /no way to sign in/],
    [
      "it is FTP without consent",
      "a: {type: ftp, host: h, user: u, password: 'env:PASS', allowPlain: false, after: leave}",
      /allowPlain/,
    ],
    ["two poll the same folder", `a: {${sftp}, after: leave}, b: {${sftp}, after: delete}`, /only once/],
    ["it has no type", "a: {host: h, after: leave}", /type/],
    ["its name is none", `A_B: {${sftp}, after: leave}`, /1 to 40 characters/],
  ])("is refused when %s", async (_title, remotes, words) => {
    expect((await load(remotes)).kind).toBe("faulty");
    expect(await faultsOf(remotes)).toMatch(words);
  });

  test("without host keys is warned of", async () => {
    const outcome = await load("a: {type: sftp, host: h, user: u, password: 'env:PASS', after: leave}");
    expect(outcome.kind).not.toBe("faulty");
    expect(formatConfigFaults(outcome.kind === "faulty" ? [] : outcome.warnings)).toMatch(
      /nothing is fetched/,
    );
  });

  test("can be changed by a reload", async () => {
    const before = await loaded(`a: {${sftp}, after: leave}`);
    const after = await loaded(`a: {${sftp}, after: delete, settleMs: 1}`);
    expect(reloadDifference(before, after).map(({ path, needsRestart }) => [path, needsRestart])).toEqual([
      ["companies.ACME.remotes.a.settleMs", false],
      ["companies.ACME.remotes.a.after", false],
    ]);
  });
});
