import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { faultOfCompanyCode } from "../domain/users/company-code.ts";
import { companySettingsOf } from "./company-settings.ts";
import { type ConfigFault, formatConfigFaults } from "./reader/config-fault.ts";
import { type LoadOutcome, loadConfig } from "./load-config.ts";
import type { Config } from "./schema.ts";

let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "dropgate-config-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

function write(name: string, content: string | Uint8Array): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

function load(content: string | Uint8Array, env: NodeJS.ProcessEnv = {}): Promise<LoadOutcome> {
  return loadConfig({ path: write("dropgate.yaml", content), env, cwd: folder });
}

async function loaded(content: string, env: NodeJS.ProcessEnv = {}): Promise<Config> {
  const outcome = await load(content, env);
  if (outcome.kind === "faulty") throw new Error(formatConfigFaults(outcome.faults));
  return outcome.config;
}

async function faultsOf(content: string | Uint8Array): Promise<readonly ConfigFault[]> {
  const env = { STORE: "postgres://gate@db/dropgate", STORE_TYPO: "mysql://gate@db/dropgate" };
  const outcome = await load(content, env);
  return outcome.kind === "faulty" ? outcome.faults : [];
}

function isFrozenWhole(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isFrozenWhole);
}

describe("the file is looked for", () => {
  test("only where --config says, when it is given", async () => {
    write("config/dropgate.yaml", "");
    const outcome = await loadConfig({ path: "other.yaml", env: {}, cwd: folder });
    expect(outcome).toEqual({
      kind: "faulty",
      file: join(folder, "other.yaml"),
      faults: [{ path: "", message: "there is no such file (--config names it)" }],
    });
  });

  test("then where DROPGATE_CONFIG says", async () => {
    write("config/dropgate.yaml", "");
    const file = write("from-env.yaml", "");
    const outcome = await loadConfig({ env: { DROPGATE_CONFIG: "from-env.yaml" }, cwd: folder });
    expect(outcome).toMatchObject({ kind: "loaded", file });
  });

  test("then in ./config", async () => {
    const file = write("config/dropgate.yaml", "");
    expect(await loadConfig({ env: { DROPGATE_CONFIG: "" }, cwd: folder })).toMatchObject({
      kind: "loaded",
      file,
    });
  });

  test("and when there is none, the fault names all places", async () => {
    const outcome = await loadConfig({ env: {}, cwd: folder });
    // A machine that runs dropgate may have one in /etc.
    if (outcome.kind === "loaded") return;
    const text = formatConfigFaults(outcome.faults);
    for (const place of [
      "--config",
      "DROPGATE_CONFIG",
      join(folder, "config/dropgate.yaml"),
      "/etc/dropgate/",
    ]) {
      expect(text).toContain(place);
    }
  });

  test("and a folder in its place is a fault, not passed over", async () => {
    mkdirSync(join(folder, "config/dropgate.yaml"), { recursive: true });
    expect(await loadConfig({ env: {}, cwd: folder })).toMatchObject({
      kind: "faulty",
      faults: [{ message: expect.stringContaining("is a folder") }],
    });
  });
});

describe("a configuration that is right", () => {
  test("may be empty and then has every default, with absolute paths", async () => {
    const config = await loaded("");
    expect(config).toMatchObject({
      stateDir: join(folder, "var"),
      log: { level: "info" },
      http: {
        host: "127.0.0.1",
        port: 8080,
        maxBodyBytes: 20_000_000,
        metricsFrom: ["127.0.0.0/8", "::1/128"],
      },
      sftp: { port: 2222, maxUploadBytes: 2 ** 30 },
      inbound: { names: "strict", settleMs: 2_000, maxFileBytes: 50 * 2 ** 20 },
      storage: { minFree: { percent: 5, bytes: 2_000_000_000 } },
      security: { bans: { enabled: true, maxScore: 15 } },
      shutdown: { drainMs: 20_000 },
    });
    expect(Object.keys(config.companies)).toEqual([]);
    expect(config.http).not.toHaveProperty("tls");
  });

  test("is frozen at every depth", async () => {
    const config = await loaded("companies: {ACME: {folders: [{path: a}]}}");
    expect(isFrozenWhole(config)).toBe(true);
    expect(Object.isFrozen(config.companies["ACME"]?.folders[0])).toBe(true);
  });

  test("may have sections whose lines are all commented out", async () => {
    const config = await loaded(
      "http:\n  #port: 1\n  tls:\n    #certFile: x\nsecurity:\n  bans:\ncompanies:\n  ACME:\n",
    );
    expect(config.http).not.toHaveProperty("tls");
    const outbound = { on: [], embedDocuments: false, collectWithinHours: 0 };
    expect(config.companies["ACME"]).toEqual({
      ...{ folders: [], remotes: {}, expectedArrivals: {}, inbound: {}, retention: {} },
      outbound: { ...outbound, targets: {}, exports: {} },
    });
  });

  test("may give sizes as text", async () => {
    const config = await loaded("http: {maxBodyBytes: 1.5MB}\nsftp: {maxUploadBytes: 2000}");
    expect(config.http.maxBodyBytes).toBe(1_500_000);
    expect(config.sftp.maxUploadBytes).toBe(2_000);
  });

  test("is there without its secrets for who needs none: each says what is wrong when it is revealed", async () => {
    const configured = (password: string) => {
      const target = `{type: https, url: "https://h/", user: u, password: "${password}"}`;
      const path = write("dropgate.yaml", `companies: {ACME: {outbound: {targets: {t: ${target}}}}}`);
      return { path, env: {}, cwd: folder };
    };
    expect((await loadConfig(configured("credential:pass"))).kind).toBe("faulty");
    const outcome = await loadConfig({ ...configured("credential:pass"), needsSecrets: false });
    if (outcome.kind === "faulty") throw new Error(formatConfigFaults(outcome.faults));
    const target = outcome.config.companies["ACME"]?.outbound.targets["t"];
    if (target?.type !== "https") throw new Error("the configuration of the test has another target");
    expect(() => target.password?.reveal()).toThrow(
      "companies.ACME.outbound.targets.t.password: there are no systemd credentials",
    );
    expect(JSON.stringify(target)).toContain("[secret]");
    for (const wrong of ["hunter2", "credential:../pass"])
      expect((await loadConfig({ ...configured(wrong), needsSecrets: false })).kind).toBe("faulty");
  });

  test("has its secrets resolved and hidden", async () => {
    const yaml = "http: {tls: {certFile: c.pem, keyFile: /k.pem, keyPassphrase: 'env:PASS'}}";
    const config = await loaded(yaml, { PASS: "hunter2" });
    expect(config.http.tls?.keyPassphrase?.reveal()).toBe("hunter2");
    expect(config.http.tls).toMatchObject({
      certFile: join(folder, "c.pem"),
      keyFile: "/k.pem",
      minVersion: "TLSv1.2",
    });
    expect(JSON.stringify(config)).not.toContain("hunter2");
  });

  test("keeps company codes as they are written, even those that look like something else", async () => {
    const config = await loaded("companies: {007: {}, constructor: {}, __proto__: {}, true: {}}");
    expect(Object.keys(config.companies).toSorted()).toEqual(["007", "__proto__", "constructor", "true"]);
    expect((await loaded("")).companies["constructor"]).toBeUndefined();
  });

  test("may begin with a byte order mark and have Windows line ends", async () => {
    expect((await loaded("\uFEFFhttp:\r\n  port: 81\r\n")).http.port).toBe(81);
  });

  test("gives a company what it leaves to the section inbound, without regard to case", async () => {
    const config = await loaded(
      "inbound: {lateFiles: apply}\ncompanies: {ACME: {inbound: {names: lenient}, folders: [{path: drop, label: share}]}}",
    );
    const folders = [{ path: join(folder, "drop"), label: "share" }];
    expect(companySettingsOf(config, "acme")).toEqual({ names: "lenient", lateFiles: "apply", folders });
    expect(companySettingsOf(config, "OTHER")).toEqual({ names: "strict", lateFiles: "apply", folders: [] });
  });
});

describe("a fault has its line, its column, the setting and the remedy:", () => {
  test.each([
    ["http:\n  prot: 1", 2, 3, "http.prot", "did you mean `port`?"],
    ["inbound:\n  settelMs: 1", 2, 3, "inbound.settelMs", "did you mean `settleMs`?"],
    ["http:\n  groupSize: 1", 2, 3, "http.groupSize", "did you mean `inbound.groupSize`?"],
    ["frobnicate: 1", 1, 1, "frobnicate", "unknown setting; known here: stateDir, store, log,"],
    ["http:\n  port: abc", 2, 9, "http.port", "a whole number from 0 to 65535, not `abc`"],
    ["http: {port: 65536}", 1, 14, "http.port", "from 0 to 65535"],
    ["http: {port: 80.5}", 1, 14, "http.port", "whole number"],
    ["http: {port: .inf}", 1, 14, "http.port", "whole number"],
    ["http: {port: '80'}", 1, 14, "http.port", "whole number"],
    ["http:\n  port:", 2, 3, "http.port", "has no value"],
    ["http: {port: [1]}", 1, 14, "http.port", "is a list"],
    ["http: {port: {a: 1}}", 1, 14, "http.port", "has settings below it"],
    ["http: {allowPlain: yes}", 1, 20, "http.allowPlain", "true or false, not `yes`"],
    ["http: {basePath: rest/}", 1, 18, "http.basePath", "starts with /"],
    ["http: {basePath: /a/../b}", 1, 18, "http.basePath", "starts with /"],
    ["http: {host: '*'}", 1, 14, "http.host", "0.0.0.0 or ::"],
    ["http: {metricsFrom: [::1, 10.0.0.0/40]}", 1, 27, "http.metricsFrom[1]", "0 to 32"],
    ["http: {metricsFrom: 10.0.0.0/8}", 1, 21, "http.metricsFrom", "a list of values"],
    ["http:\n  metricsFrom:", 2, 3, "http.metricsFrom", "write [] for none"],
    ["http: 8080", 1, 7, "http", "settings below it"],
    ["- http", 1, 1, "", "settings below it"],
    ["log: {level: inof}", 1, 14, "log.level", "did you mean `info`?"],
    ["stateDir: 5", 1, 11, "stateDir", "put `5` in quotes"],
    ["stateDir: ~/x", 1, 11, "stateDir", "not expanded"],
    ["store: postgres://gate:x@db/dropgate", 1, 8, "store", "may not stand in the configuration"],
    ["store: env:STORE_TYPO", 1, 8, "store", "the secret is no address of PostgreSQL; write postgres://"],
    [
      "store: env:STORE\nbackup: {folder: ../b}",
      2,
      18,
      "backup.folder",
      "no backups of a database on PostgreSQL",
    ],
    ["stateDir: ''", 1, 11, "stateDir", "must be the path"],
    ["storage: {minFree: 5%}", 1, 20, "storage.minFree", "settings below it (`percent`, `bytes`), each as"],
    ["storage: {minFree: {bytes: 2G}}", 1, 28, "storage.minFree.bytes", "50MB or 1GiB"],
    ["http: {maxBodyBytes: 2GB}", 1, 22, "http.maxBodyBytes", "from 1kB to 1GB"],
    ["http: {maxBodyBytes: -1}", 1, 22, "http.maxBodyBytes", "from 1kB to 1GB"],
    ["http:\n  tls: {certFile: c}", 2, 8, "http.tls", "`keyFile` is missing: The private key"],
    ["http: {tls: {certFile: c, keyFile: k, keyPassphrase: x}}", 1, 54, "http.tls.keyPassphrase", "env:NAME"],
    ["http:\n  port: 1\n  port: 2", 3, 3, "http.port", "is set twice"],
    ["http: {[1]: 2}", 1, 8, "http.?", "plain name"],
    ["companies: {'A B': {}}", 1, 13, "companies.A B", "1 to 20 letters"],
    ["companies: {acme: {}, ACME: {}}", 1, 23, "companies.ACME", "differ in case alone"],
    ["companies: {A: {folders: [{label: x}]}}", 1, 27, "companies.A.folders[0]", "`path` is missing"],
    ["companies: {A: {folders: [{path: x, label: '/'}]}}", 1, 44, "companies.A.folders[0].label", "letters"],
    ['sftp: {banner: "a\\0b"}', 1, 16, "sftp.banner", "control characters"],
  ])("%j", async (yaml, line, column, path, message) => {
    const faults = await faultsOf(yaml);
    expect(faults).toEqual([{ line, column, path, message: expect.stringContaining(message) }]);
  });

  test.each([
    ["http:\n\tport: 1", 2, "a tab may not indent"],
    ["http: {port: 1", 1, "not valid YAML"],
    ["a: 1\n---\nb: 2", 2, "only one document"],
    ["stateDir: !!js/function x", 1, "tags (!…) are not supported"],
    ["http: &a {port: 1}\nsftp: *a", 2, "aliases (*…) are not supported"],
    ["\nstateDir: *nowhere", 2, "aliases (*…) are not supported"],
  ])("of form, %j", async (yaml, line, message) => {
    const faults = await faultsOf(yaml);
    expect(faults[0]).toMatchObject({ line, message: expect.stringContaining(message) });
  });

  test.each([
    ["bytes that are not UTF-8", Uint8Array.of(0x61, 0x3a, 0x20, 0xff), "is not UTF-8"],
    ["more than a megabyte", new Uint8Array(1_048_577).fill(0x23), "over 1048576 bytes"],
    ["extreme nesting", "[".repeat(200_000), "YAML"],
  ])("of the whole file, %s", async (_what, bytes, message) => {
    expect((await faultsOf(bytes))[0]?.message).toContain(message);
  });

  test("an anchor bomb is refused at once", async () => {
    const lines = ["a0: &a0 [x, x]"];
    for (let n = 1; n < 40; n += 1) lines.push(`a${n}: &a${n} [*a${n - 1}, *a${n - 1}]`);
    lines.push("companies: *a39");
    expect((await faultsOf(lines.join("\n"))).length).toBeGreaterThan(0);
  });

  test("and all come together, in the order of the file", async () => {
    const faults = await faultsOf(
      "sftp: {port: x}\nhttp:\n  prot: 1\n  host: '*'\n  headersTimeoutMs: 70000\nlog: 1",
    );
    expect(faults.map(({ line, path }) => `${line} ${path}`)).toEqual([
      "1 sftp.port",
      "3 http.prot",
      "4 http.host",
      "5 http.headersTimeoutMs",
      "6 log",
    ]);
  });
});

test.each(["A", "a_B-9", "x".repeat(20), "x".repeat(21), "A.B", "Ä", "A/B"])(
  "company code `%s` is judged as everywhere else",
  async (code) => {
    const isTaken = (await faultsOf(`companies: {"${code}": {}}`)).length === 0;
    expect(isTaken).toBe(faultOfCompanyCode(code) === undefined);
  },
);

test("faults of meaning are told together with faults of value, but for those of the same company or setting", async () => {
  const faults = await faultsOf(
    "log: {level: inof}\nhttp: {port: 2222, maxBodyBytes: 2GB}\ncompanies: {A: {folders: [{path: var/a}], inbound: {names: no}},\n B: {folders: [{path: var/b}]}}",
  );
  expect(faults.map(({ line, path }) => `${line} ${path}`)).toEqual([
    "1 log.level",
    "2 sftp.port",
    "2 http.maxBodyBytes",
    "3 companies.A.inbound.names",
    "4 companies.B.folders[0].path",
  ]);
});

describe("settings that do not go together are faults:", () => {
  test.each([
    ["http: {port: 2222}", 1, "sftp.port", "so is http.port"],
    ["http: {port: 9, host: 0.0.0.0}\nsftp: {port: 9, host: 127.0.0.1}", 2, "sftp.port", "so is http.port"],
    ["http: {headersTimeoutMs: 2000, requestTimeoutMs: 1000}", 1, "http.headersTimeoutMs", "shorten it"],
    ["console: {port: 8080}", 1, "console.port", "so is http.port"],
    ["console: {port: 2222}", 1, "sftp.port", "so is console.port"],
    ["console: {host: 127.0.0.1}", 1, "console.host", "set that too, or remove it"],
    ["console: {operators: [anna]}", 1, "console.operators[0]", "NAME@COMPANY"],
    ["inbound: {incompleteGraceMs: 100}", 1, "inbound.incompleteGraceMs", "lengthen it"],
    [
      "companies: {A: {folders: [{path: x}]},\n B: {folders: [{path: x/}]}}",
      2,
      "companies.B.folders[0].path",
      "companies.A",
    ],
    ["companies: {A: {folders: [{path: var/x}]}}", 1, "companies.A.folders[0].path", "stateDir"],
    ["companies: {A: {folders: [{path: .}]}}", 1, "companies.A.folders[0].path", "stateDir"],
  ])("%j", async (yaml, line, path, message) => {
    expect(await faultsOf(yaml)).toEqual([
      { line, column: expect.any(Number), path, message: expect.stringContaining(message) },
    ]);
  });

  test.each([
    "http: {port: 0}\nsftp: {port: 0}",
    "http: {port: 9}\nsftp: {port: 9, enabled: false}",
    "http: {port: 9, host: 127.0.0.1}\nsftp: {port: 9, host: 127.0.0.2}",
    "console: {port: 8080, enabled: false}",
    "console: {port: 8080, host: 127.0.0.2}",
    "console: {operators: [anna@ACME, anna@example.com@ACME]}",
    "companies: {A: {folders: [{path: variant}]}}",
  ])("but not %j", async (yaml) => {
    expect(await faultsOf(yaml)).toEqual([]);
  });
});

describe("a warning is given", () => {
  test.each([
    ["http: {host: 0.0.0.0}", 1],
    ["http: {host: 0.0.0.0, allowPlain: true}", 0],
    ["console: {port: 9, host: 0.0.0.0}", 1],
    ["http: {allowPlain: true}\nconsole: {port: 9, host: 0.0.0.0}", 0],
    ["console: {port: 9}", 0],
    ["http: {host: 0.0.0.0, tls: {certFile: c, keyFile: k}}", 0],
    ["", 0],
  ])("for %j: %d", async (yaml, count) => {
    const outcome = await load(yaml);
    expect(outcome.kind === "loaded" && outcome.warnings.length).toBe(count);
  });

  test("when a secret's file can be read by others, at its line", async () => {
    chmodSync(write("pass", "hunter2"), 0o640);
    const outcome = await load("http:\n  tls: {certFile: c, keyFile: k, keyPassphrase: file:pass}");
    expect(outcome).toMatchObject({ warnings: [{ line: 2, path: "http.tls.keyPassphrase" }] });
  });
});

test("faults are printed as file:line:column: path: message", () => {
  const faults = [
    { line: 3, column: 5, path: "http.port", message: "is wrong" },
    { path: "", message: "is unreadable" },
  ];
  expect(formatConfigFaults(faults, "/etc/d.yaml")).toBe(
    "/etc/d.yaml: is unreadable\n/etc/d.yaml:3:5: http.port: is wrong",
  );
});
