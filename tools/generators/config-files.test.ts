/** The generated files are what the schema makes of them. `UPDATE_GENERATED=1` writes them anew. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Ajv } from "ajv";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { formatConfigFaults } from "../../src/config/reader/config-fault.ts";
import { type LoadOutcome, loadConfig } from "../../src/config/load-config.ts";
import { renderJsonSchema } from "./render-json-schema.ts";
import { renderReference } from "./render-reference.ts";
import { renderSample } from "./render-sample.ts";
import { configSchema } from "../../src/config/schema.ts";
import { settingsBelow } from "../../src/config/reader/setting-list.ts";
import { targetTypes } from "../../test/support/target-types.ts";

const projectFolder = resolve(import.meta.dirname, "../..");
const sampleFile = join(projectFolder, "config/dropgate.example.yaml");
/** Every variable that the sample names. */
const env = Object.fromEntries(
  [...renderSample().matchAll(/env:([A-Z_]+)/g)].map(([, name = ""]) => [name, "hunter2"]),
);
let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "dropgate-sample-"));
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

function load(content: string): Promise<LoadOutcome> {
  const path = join(folder, "dropgate.yaml");
  writeFileSync(path, content);
  return loadConfig({ path, env, cwd: folder });
}

/** Removes the # of settings; explanations have a single space behind it. */
function uncommented(sample: string): string {
  return sample.replaceAll(/^( *)#(?! \S)/gm, "$1");
}

test.each([
  ["config/dropgate.schema.json", renderJsonSchema],
  ["config/dropgate.example.yaml", renderSample],
  ["docs/configuration.md", renderReference],
])("%s is up to date with the schema", (name, render) => {
  const file = join(projectFolder, name);
  if (process.env["UPDATE_GENERATED"] === "1") writeFileSync(file, render());
  expect(readFileSync(file, "utf8")).toBe(render());
});

describe("the sample configuration", () => {
  test("loads without a warning and is the defaults", async () => {
    const sample = await load(readFileSync(sampleFile, "utf8"));
    expect(sample).toMatchObject({ kind: "loaded", warnings: [] });
    expect(sample).toEqual(await load(""));
  });

  test("with every # removed loads, and differs from the defaults only where there is none", async () => {
    const outcome = await load(uncommented(readFileSync(sampleFile, "utf8")));
    if (outcome.kind === "faulty") throw new Error(formatConfigFaults(outcome.faults));
    const { tls, ...http } = outcome.config.http;
    const { banner, ...sftp } = outcome.config.sftp;
    const {
      tls: ftpTls,
      implicitPort,
      passivePorts,
      publicAddress,
      banner: greeting,
      ...ftp
    } = outcome.config.ftp;
    const { folder, schedule, ...backup } = outcome.config.backup;
    const { moveTo, ...retention } = outcome.config.retention;
    const { host: consoleHost, port: consolePort, ...ofConsole } = outcome.config.console;
    const { email, https, installation, quietHours, to, ...alerts } = outcome.config.alerts;
    const { companies, integrations, ...config } = outcome.config;
    const defaults = await load("companies: {}");
    const same = { ...config, http, console: ofConsole, sftp, ftp };
    expect(defaults).toMatchObject({ config: { ...same, backup, retention, alerts } });
    expect([consoleHost, consolePort]).toEqual(["127.0.0.1", 8081]);
    expect([email?.host, https?.url, quietHours.length]).toEqual([
      "smtp.example.com",
      "https://ops.example.com/hooks/dropgate",
      1,
    ]);
    expect(outcome.warnings).toEqual([]);
    expect(tls?.keyPassphrase?.reveal()).toBe("hunter2");
    expect([ftpTls?.certFile, greeting]).toEqual([tls?.certFile, banner]);
    expect([implicitPort, passivePorts, publicAddress]).toEqual([
      2990,
      { from: 50_000, to: 50_500 },
      "192.0.2.7",
    ]);
    expect([banner, companies["ACME"]?.folders[0]?.label]).toEqual(["Authorised use only.", "warehouse"]);
    expect(moveTo).toBe("/srv/old/dropgate");
    expect([folder, schedule]).toEqual(["/srv/backup/dropgate", "30 1 * * *"]);
    expect(integrations["erp"]?.companies).toEqual(["ACME"]);
    const { targets = {}, exports = {} } = companies["ACME"]?.outbound ?? {};
    expect(Object.keys(targets)).toEqual(targetTypes);
    expect(exports["nightly"]).toMatchObject({ schedule: "30 2 * * *", zone: "UTC", target: "sftp" });
  });

  test("shows every setting", async () => {
    const text = uncommented(readFileSync(sampleFile, "utf8"));
    const shown: unknown = parse(text);
    for (const { path, setting } of settingsBelow(configSchema)) {
      const steps = path
        .replace("<CODE>", "ACME")
        .replace("exports.<NAME>", "exports.nightly")
        .replace("expectedArrivals.<NAME>", "expectedArrivals.morning")
        .replace("secretHeaders.<HEADER>", "secretHeaders.X-Api-Key")
        .replace("headers.<HEADER>", "headers.X-Sender")
        .replace("events.<EVENT>", "events.etaMoved")
        .replace("integrations.<NAME>", "integrations.erp")
        .replace(/<(\w+)>/, "$1")
        .replaceAll("[]", ".0")
        .split(".");
      if (steps.at(-1) === "0") continue;
      if (setting.dropgate.isAlternative === true) expect(text, path).toContain(`# ${steps.at(-1)}: `);
      else expect(shown, path).toHaveProperty(steps);
    }
  });
});

describe("the JSON Schema for editors judges as the loader does:", () => {
  const validate = new Ajv({ strict: true, allowUnionTypes: true }).compile(JSON.parse(renderJsonSchema()));

  test.each([
    ["{}", true],
    ["http:\ncompanies:\n", true],
    ["http: {port: 0}", true],
    ["http: {port: 65536}", false],
    ["http: {port: '80'}", false],
    ["http: {prot: 80}", false],
    ["http: {basePath: /rest/v1}", true],
    ["http: {basePath: /rest/}", false],
    ["http: {maxBodyBytes: 20MB}", true],
    ["http: {maxBodyBytes: 20M}", false],
    ["http: {maxBodyBytes: 10}", false],
    ["http: {tls: {certFile: c}}", false],
    ["http: {tls: {certFile: c, keyFile: k}}", true],
    ["http: {tls: {certFile: c, keyFile: k, keyPassphrase: 'env:DROPGATE_TLS_PASSPHRASE'}}", true],
    ["http: {tls: {certFile: c, keyFile: k, keyPassphrase: literal}}", false],
    ["log: {level: loud}", false],
    ["sftp: {enabled: yes}", false],
    ["companies: {ACME: {folders: [{path: /x, label: a b}], inbound: {names: lenient}}}", true],
    ["companies: {ACME: {folders: [{}]}}", false],
    ["companies: {'A B': {}}", false],
    ["companies: {A: {outbound: {targets: {t: {type: folder}}}}}", true],
    ["companies: {A: {outbound: {targets: {t: {type: folder, host: h}}}}}", false],
    ["companies: {A: {outbound: {targets: {t: {type: smb}}}}}", false],
    ["companies: {A: {outbound: {targets: {t: {}}}}}", false],
    ["companies: {A: {outbound: {targets: {t: {type: https}}}}}", false],
    ["companies: {A: {outbound: {targets: {t: {type: https, url: 'https://h/x'}}}}}", true],
    ["companies: {A: {outbound: {targets: {T: {type: folder}}}}}", false],
    ["companies: {A: {outbound: {exports: {e: {schedule: 30 2 * * *, form: files}}}}}", true],
    ["companies: {A: {outbound: {exports: {e: {form: files}}}}}", false],
    ["companies: {A: {outbound: {on: [7014]}}}", true],
    ["companies: {A: {outbound: {on: 7014}}}", false],
    ["integrations: {erp: {file: x.jsonata, input: xml, companies: [ACME]}}", true],
    ["integrations: {erp: {input: xml}}", false],
    ["integrations: {Default: {file: x.jsonata}}", false],
    ["security: {bans: {allow: 10.0.0.1}}", false],
    ["[]", false],
  ])("%s", async (yaml, isRight) => {
    expect(validate(parse(yaml))).toBe(isRight);
    expect((await load(yaml)).kind).toBe(isRight ? "loaded" : "faulty");
  });
});

test("every setting has a description, numbers have limits, and defaults obey them", () => {
  for (const { path, setting, isRequired } of settingsBelow(configSchema)) {
    expect(setting.description, path).toMatch(/\S/);
    const { kind } = setting.dropgate;
    if (kind !== "integer" && kind !== "size") continue;
    expect([setting.minimum, setting.maximum], path).not.toContain(undefined);
    if (!isRequired && setting.default === undefined) continue;
    expect(setting.default, path).toBeDefined();
    expect(setting.default, path).toBeGreaterThanOrEqual(setting.minimum ?? Number.NaN);
    expect(setting.default, path).toBeLessThanOrEqual(setting.maximum ?? Number.NaN);
  }
});
