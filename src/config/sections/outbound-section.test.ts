import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { outboundSettingsOf } from "../company-settings.ts";
import { formatConfigFaults } from "../reader/config-fault.ts";
import { type LoadOutcome, loadConfig } from "../load-config.ts";
import { reloadDifference, reloadedConfig } from "../reload.ts";
import { type Config, configSchema } from "../schema.ts";
import { settingsBelow } from "../reader/setting-list.ts";
import { targetTypes } from "../../../test/support/target-types.ts";

const env = { PASS: "hunter2", KEY: "a key", TOKEN: "a token" };
const fingerprint = "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU";
let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "dropgate-outbound-"));
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

function load(content: string, variables: NodeJS.ProcessEnv = env): Promise<LoadOutcome> {
  const path = join(folder, "dropgate.yaml");
  writeFileSync(path, content);
  return loadConfig({ path, env: variables, cwd: folder });
}

async function loaded(content: string, variables: NodeJS.ProcessEnv = env): Promise<Config> {
  const outcome = await load(content, variables);
  if (outcome.kind === "faulty") throw new Error(formatConfigFaults(outcome.faults));
  return outcome.config;
}

/** The outbound section of the company ACME, in one line. */
function acme(outbound: string): string {
  return `companies: {ACME: {outbound: {${outbound}}}}`;
}

function target(settings: string): string {
  return acme(`targets: {t: {${settings}}}`);
}

const sftp = "type: sftp, host: h, user: u";

describe("without settings", () => {
  test.each([["companies: {}"], ["companies: {ACME: {}}"]])(
    "a company has its own folder as its one target: %s",
    async (yaml) => {
      const { targets, exports, ...rest } = outboundSettingsOf(await loaded(yaml), "acme");
      expect([...targets]).toEqual([
        ["outbound", { type: "folder", completions: "atOnce", timeoutMs: 60_000, mustBeMount: false }],
      ]);
      expect(exports.size).toBe(0);
      expect(rest).toEqual({ on: [], embedDocuments: false, collectWithinHours: 0 });
    },
  );
});

describe("a target", () => {
  test("has the defaults of its type and its secrets resolved", async () => {
    const config = await loaded(
      acme(
        `targets: {a: {type: https, url: 'https://h:8443/x?y=1', user: u, password: 'env:PASS'}, b: {${sftp}, privateKey: 'env:KEY', hostKeys: ['${fingerprint}']}, c: {type: ftps, host: h, user: u, password: 'env:PASS', tls: implicit, completions: none}, d: {type: folder, path: out}}`,
      ),
    );
    const { targets } = outboundSettingsOf(config, "ACME");
    expect([...targets.keys()]).toEqual(["a", "b", "c", "d"]);
    expect(targets.get("a")).toMatchObject({ allowPlain: false, timeoutMs: 60_000, completions: "atOnce" });
    expect(targets.get("b")).toMatchObject({ port: 22, directory: ".", makeFolders: false, connections: 2 });
    expect(targets.get("c")).toMatchObject({ tls: "implicit", completions: "none" });
    // The port of implicit TLS is another one than that of explicit.
    expect(targets.get("c")).not.toHaveProperty("port");
    expect(targets.get("d")).toMatchObject({ path: join(folder, "out") });
    const { password } = targets.get("a") as { password: { reveal(): string } };
    expect(password.reveal()).toBe("hunter2");
    expect(JSON.stringify(config)).not.toMatch(/hunter2|a key/);
  });

  test.each([
    ["host: h", "", `\`type\` is missing: one of ${targetTypes.join(", ")}`],
    ["type: sfpt, host: h", ".type", "did you mean `sftp`?"],
    ["type: folder, host: h", ".host", "unknown setting here; did you mean"],
    ["type: folder, pth: x", ".pth", "did you mean `path`?"],
    ["type: https", "", "`url` is missing"],
    ["type: https, url: 'ftp://h'", ".url", "an address such as https://"],
    ["type: https, url: 'https://u:p@h/'", ".url", "without user, password"],
    ["type: https, url: 'https://'", ".url", "an address such as https://"],
    ["type: https, url: 'https://h:99999/'", ".url", "is not an address"],
    ["type: https, url: 'http://h/'", ".url", "use https://, or set allowPlain"],
    ["type: https, url: 'https://h', user: u", ".user", "has no effect without password"],
    ["type: https, url: 'https://h', password: 'env:PASS'", ".password", "has no effect without user"],
    ["type: https, url: 'https://h', certificate: c", ".certificate", "has no effect without privateKey"],
    ["type: https, url: 'https://h', password: literal, user: u", ".password", "env:NAME"],
    [
      "type: https, url: 'https://h', user: u, password: 'env:PASS', bearerToken: 'env:TOKEN'",
      ".bearerToken",
      "two ways to sign in",
    ],
    ["type: sftp, user: u, password: 'env:PASS'", "", "`host` is missing"],
    [sftp, "", "has no way to sign in; set password or privateKey"],
    [`${sftp}, password: 'env:PASS', privateKey: 'env:KEY'`, ".privateKey", "remove one of them"],
    [
      `${sftp}, password: 'env:PASS', passphrase: 'env:KEY'`,
      ".passphrase",
      "has no effect without privateKey",
    ],
    [`${sftp}, password: 'env:PASS', hostKeys: [aa:bb]`, ".hostKeys[0]", "a fingerprint such as SHA256:"],
    [`${sftp}, password: 'env:NOPE'`, ".password", "NOPE is not set"],
    [`${sftp}, password: 'env:PASS', port: 0`, ".port", "from 1 to 65535"],
    ["type: ftp, host: h, user: u, password: 'env:PASS'", "", "`allowPlain` is missing"],
    ["type: ftp, host: h, user: u, password: 'env:PASS', allowPlain: false", ".allowPlain", "take type ftps"],
    ["type: ftp, host: h, user: u, allowPlain: true", "", "`password` is missing"],
    ["type: ftps, host: 'ftp://h', user: u, password: 'env:PASS'", ".host", "without port"],
    [
      "type: ftps, host: h, user: u, password: 'env:PASS', certificateFingerprint: ab",
      ".certificateFingerprint",
      "64 hexadecimal digits",
    ],
    ["type: folder, path: var/x", ".path", "overlaps with stateDir"],
    ["type: folder, mustBeMount: true", ".mustBeMount", "has no effect without path"],
  ])("that is %s is refused at t%s", async (settings, at, message) => {
    const outcome = await load(`\n${target(settings)}`);
    expect(outcome.kind === "faulty" ? outcome.faults : []).toEqual([
      {
        line: 2,
        column: expect.any(Number),
        path: `companies.ACME.outbound.targets.t${at}`,
        message: expect.stringContaining(message),
      },
    ]);
  });

  test.each([
    ["acme(targets: not a map)", acme("targets: [1]"), "settings below it"],
    ["two faults of one target", target("type: folder, a: 1, b: 2"), "unknown setting"],
    ["a name", acme("targets: {T: {type: folder}}"), "1 to 40 characters of a-z"],
    ["a target that is a list", acme("targets: {t: []}"), "settings below it"],
    ["a target that is empty", acme("targets: {t: }"), "`type` is missing"],
    ["a setting that stands twice", target("type: folder, path: x, path: y"), "is set twice"],
    [
      "a drop folder",
      "companies: {A: {folders: [{path: x}]}, B: {outbound: {targets: {t: {type: folder, path: x}}}}}",
      "is the same folder as companies.A.folders[0].path",
    ],
    [
      "the folder of another target",
      acme("targets: {s: {type: folder, path: x}, t: {type: folder, path: x}}"),
      "is the same folder as companies.ACME.outbound.targets.s.path",
    ],
  ])("is refused with its fault: %s", async (_what, yaml, message) => {
    const outcome = await load(yaml);
    const faults = outcome.kind === "faulty" ? outcome.faults : [];
    expect(faults.length).toBe(yaml.includes("b: 2") ? 2 : 1);
    expect(faults[0]?.message).toContain(message);
  });

  test("of SFTP without host keys is warned of, at its place", async () => {
    const outcome = await load(target(`${sftp}, password: 'env:PASS'`));
    expect(outcome).toMatchObject({
      kind: "loaded",
      warnings: [{ line: 1, path: "companies.ACME.outbound.targets.t.hostKeys" }],
    });
  });
});

describe("an export", () => {
  const nightly = "schedule: 30 2 * * *";

  test("has UTC, one document and the target outbound unless it says otherwise", async () => {
    const { exports } = outboundSettingsOf(await loaded(acme(`exports: {nightly: {${nightly}}}`)), "ACME");
    expect(exports.get("nightly")).toEqual({ schedule: "30 2 * * *", zone: "UTC", form: "document" });
  });

  test.each([
    ["exports: {e: {form: files}}", "exports.e", "`schedule` is missing"],
    ["exports: {e: {schedule: 30 2 * *}}", "exports.e.schedule", "has 4 fields, not five"],
    ["exports: {e: {schedule: 0 30 2 * * *}}", "exports.e.schedule", "has 6 fields"],
    [`exports: {e: {${nightly}, zone: Europe/Berln}}`, "exports.e.zone", "is not a time zone"],
    [`exports: {e: {${nightly}, zone: EST}}`, "exports.e.zone", "is not a time zone"],
    [
      `exports: {e: {${nightly}, target: tms}}`,
      "exports.e.target",
      "there is no target tms; there is outbound",
    ],
    [
      `targets: {t: {type: folder}}, exports: {e: {${nightly}}}`,
      "exports.e.target",
      "there is no target outbound; there is t",
    ],
    [
      `targets: {t: {type: https, url: 'https://h'}}, exports: {e: {${nightly}, form: files, target: t}}`,
      "exports.e.form",
      "files need a folder",
    ],
    [`exports: {E: {${nightly}}}`, "exports.E", "1 to 40 characters"],
    ["on: [7014, 7000]", "on[1]", "7000 is not an event of a stop; use one of 7006"],
    ["on: [x]", "on[0]", "whole number"],
    ["keepDays: 0", "keepDays", "from 1 to 3650"],
  ])("or what stands beside it is refused with its fault: %s", async (outbound, at, message) => {
    const outcome = await load(acme(outbound));
    expect(outcome.kind === "faulty" ? outcome.faults : []).toEqual([
      {
        line: 1,
        column: expect.any(Number),
        path: `companies.ACME.outbound.${at}`,
        message: expect.stringContaining(message),
      },
    ]);
  });
});

test("a schedule that begins with * and stands without quotes is refused with that remedy", async () => {
  const outcome = await load(acme("exports: {e: {schedule: */15 * * * *}}"));
  expect(outcome.kind === "faulty" && outcome.faults[0]?.message).toContain("needs quotes");
  await loaded(acme("exports: {e: {schedule: '*/15 * * * *'}}"));
});

describe("a reload", () => {
  const withPassword = target(`${sftp}, password: 'env:PASS'`);

  test("takes over what has changed in a target, its secret too", async () => {
    const before = await loaded(withPassword, { PASS: "one" });
    expect(reloadDifference(before, await loaded(withPassword, { PASS: "one" }))).toEqual([]);
    const after = await loaded(withPassword, { PASS: "two" });
    const path = "companies.ACME.outbound.targets.t.password";
    expect(reloadDifference(before, after)).toEqual([{ path, needsRestart: false }]);
    const inForce = outboundSettingsOf(reloadedConfig(before, after), "ACME").targets.get("t");
    expect(inForce).toMatchObject({ type: "sftp", host: "h" });
    const { password } = inForce as { password: { reveal(): string } };
    expect(password.reveal()).toBe("two");
  });

  test("takes over a target that is of another type, one that is new, and exports", async () => {
    const before = await loaded(withPassword);
    const after = await loaded(
      acme(
        "targets: {t: {type: folder}, u: {type: folder, path: x}}, exports: {e: {schedule: 0 3 * * *, target: t}}",
      ),
    );
    expect(reloadDifference(before, after).map(({ path }) => path)).toEqual([
      "companies.ACME.outbound.targets.t",
      "companies.ACME.outbound.targets.u",
      "companies.ACME.outbound.exports.e",
    ]);
    const inForce = outboundSettingsOf(reloadedConfig(before, after), "ACME");
    expect([...inForce.targets.values()].map(({ type }) => type)).toEqual(["folder", "folder"]);
    expect(inForce.exports.get("e")).toMatchObject({ schedule: "0 3 * * *" });
  });
});

describe("docs/outbound.md", () => {
  const text = readFileSync(join(import.meta.dirname, "../../../docs/outbound.md"), "utf8");
  const samples = [...text.matchAll(/```yml\n([\s\S]*?)```/g)].map(([, sample = ""]) => sample);

  test.each(samples)("has a sample that loads without a warning: %s", async (sample) => {
    const variables: NodeJS.ProcessEnv = { CREDENTIALS_DIRECTORY: folder };
    for (const [, name = ""] of sample.matchAll(/env:(\w+)/g)) variables[name] = "hunter2";
    for (const [, name = ""] of sample.matchAll(/credential:([\w-]+)/g))
      writeFileSync(join(folder, name), "hunter2");
    expect(await load(sample, variables)).toMatchObject({ kind: "loaded", warnings: [] });
  });

  test("names each setting of targets and exports, and each kind of target", () => {
    expect(samples.length).toBeGreaterThan(1);
    const names = settingsBelow(configSchema)
      .filter(({ path }) => path.startsWith("companies.<CODE>.outbound.") && !path.endsWith("[]"))
      .map(({ path }) => path.split(".").at(-1)?.replace(/[<>]/g, "") ?? "")
      .filter((name) => name !== "NAME");
    expect(
      [...new Set(names)].filter((name) => !text.includes(`\`${name}`) && !text.includes(`${name}:`)),
    ).toEqual([]);
  });
});
