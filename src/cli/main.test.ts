import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openStore } from "../store/database/database.ts";
import { enterFile, recordDecision } from "../store/ledger/files.ts";
import { sampled } from "../../test/support/sampled.ts";
import { isOnPostgres } from "../../test/support/store-dialect.ts";
import { storeSettingsOf } from "../../test/support/store-url.ts";
import { runCli } from "./run-cli.ts";

const main = new URL("../main.ts", import.meta.url).pathname;

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** As the process does, without it: loading the source anew would be most of each command. */
async function run(...args: string[]): Promise<Run> {
  const { DROPGATE_CONFIG: _unset, ...env } = process.env;
  let [stdout, stderr] = ["", ""];
  const code = await runCli(args, {
    ...{ env, cwd: "/" },
    stdout: { write: (text: string) => (stdout += text) },
    stderr: { write: (text: string) => (stderr += text) },
  });
  return { code, stdout, stderr };
}

/** The process, for what it adds: its arguments, its streams and its exit code. */
function runProcess(...args: string[]): Promise<Run> {
  const argv = ["--disable-warning=ExperimentalWarning", main, ...args];
  const { DROPGATE_CONFIG: _unset, ...env } = process.env;
  return new Promise((resolve) => {
    execFile(process.execPath, argv, { env, cwd: "/" }, (error, stdout, stderr) => {
      const code = typeof error?.code === "number" ? error.code : error === null ? 0 : -1;
      resolve({ code, stdout, stderr });
    });
  });
}

const commands = [
  ...["init", "serve", "check", "company add", "company list", "user add", "user list", "user set-password"],
  ...[
    "user disable",
    "user enable",
    "user add-key",
    "user keys",
    "user remove-key",
    "validate",
    "files",
    "file show",
    "file retry",
    "explain",
  ],
  ...[
    "ledger verify",
    "backup",
    "restore",
    "integration list",
    "integration test",
    "deliveries",
    "delivery show",
    "delivery retry",
    "delivery release",
    "export",
    "simulate",
    "version",
  ],
];

const lists = [
  "check",
  "company list",
  "user list",
  "user keys",
  "validate",
  "files",
  "file show",
  "file retry",
  "explain",
  "ledger verify",
  "backup",
  "restore",
  "integration list",
  "integration test",
  "deliveries",
  "delivery show",
  "delivery retry",
  "delivery release",
  "export",
  "simulate",
];

/** Puts a refused entry for a file into the ledger. */
async function enterRefused(stateDir: string, path: string): Promise<void> {
  const sha256 = createHash("sha256")
    .update(await readFile(path))
    .digest("hex");
  const store = await openStore(stateDir);
  try {
    await store.write("site", async (tx) => {
      const arrival = { channel: "sftp", userName: null, receivedAt: 1, location: path, size: 1 };
      const id = await enterFile(tx, { companyId: 1, name: basename(path), nameTime: null, ...arrival });
      const none = { stopFunction: null, stopNbr: null, documentId: null, firstId: null };
      const counts = { created: 0, updated: 0, deleted: 0 };
      const about = {
        id,
        state: "refused",
        sha256,
        size: 1,
        faults: [],
        decidedAt: 1,
        location: path,
      } as const;
      await recordDecision(tx, { ...about, ...none, ...counts });
    });
  } finally {
    await store.close();
  }
}

describe("the program", () => {
  let dir: string;
  let config: string;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "dropgate-main-"));
    config = join(dir, "dropgate.yaml");
    // What `init` writes names no server: there it finds a configuration.
    const store = storeSettingsOf(join(dir, "var"), dir);
    const ports = { http: { port: 0 }, sftp: { port: 0 } };
    if (isOnPostgres) await writeFile(config, JSON.stringify({ stateDir: "./var", ...ports, ...store }));
    const made = await run(
      "init",
      "--dir",
      dir,
      "--company",
      "ACME",
      "--user",
      "host1",
      "--http-port",
      "0",
      "--sftp-port",
      "0",
    );
    expect(made).toMatchObject({ code: 0, stderr: "" });
    expect(made.stdout).toMatch(/Password: +\S{23} \(shown only now\)/);
    expect(made.stdout).toMatch(/SHA256:/);
  });

  afterAll(() => rm(dir, { recursive: true, force: true }));

  it.each(sampled(commands, 8))("%s has --help and --config, and ends with 0 after it", async (command) => {
    const { code, stdout } = await run(...command.split(" "), "--help");
    expect(code).toBe(0);
    expect(stdout).toContain(`Usage: dropgate ${command}`);
    expect(stdout).toContain("--config <file>");
    expect(stdout.includes("--json")).toBe(lists.includes(command) || command === "version");
  });

  it.each([
    [[]],
    [["nope"]],
    [["file"]],
    [["init", "--dir", "/tmp"]],
    [["files", "--limit", "0"]],
    [["file", "show", "x"]],
    [["files", "--config", "/nowhere.yaml"]],
    [["check", "--config", "/nowhere.yaml"]],
  ])("ends with 2 after wrong use: %j", async (args) => {
    const { code, stdout, stderr } = await run(...args);
    expect(code).toBe(2);
    expect(`${stdout}${stderr}`).not.toBe("");
    expect(stderr).not.toContain("    at ");
  });

  // `serve` logs to its own standard error; it loads the most of all.
  it.each([[["nope"]], [["serve", "--config", "/nowhere.yaml"]]])(
    "ends as a process with 2 after wrong use: %j",
    async (args) => {
      const { code, stdout, stderr } = await runProcess(...args);
      expect(code).toBe(2);
      expect(`${stdout}${stderr}`).not.toBe("");
      expect(stderr).not.toContain("    at ");
    },
  );

  it("prints every fault of the configuration with line and path", async () => {
    const faulty = join(dir, "faulty.yaml");
    await writeFile(faulty, "nope: 1\nhttp:\n  port: x\n");
    const { code, stderr } = await run("company", "list", "--config", faulty);
    expect(code).toBe(2);
    expect(stderr).toContain(`${faulty}:1:1: nope: `);
    expect(stderr).toContain(`${faulty}:3:9: http.port: `);
  });

  it.each([["company", "list"], ["user", "list"], ["files"], ["check"], ["ledger", "verify"]])(
    "prints JSON alone with --json: %s %s",
    async (...args) => {
      const { code, stdout } = await run(
        ...args.filter((arg) => arg !== undefined),
        "--json",
        "--config",
        config,
      );
      expect(code).toBe(0);
      expect(() => JSON.parse(stdout)).not.toThrow();
    },
  );

  it("prints JSON alone as a process as well, and ends with 1 for what is not there", async () => {
    const listed = await runProcess("user", "list", "--json", "--config", config);
    expect(listed.code).toBe(0);
    expect(() => JSON.parse(listed.stdout)).not.toThrow();
    const shown = await runProcess("file", "show", "7", "--config", config);
    expect(shown).toMatchObject({ code: 1, stdout: "" });
    expect(shown.stderr).toContain("there is no ledger entry 7");
  });

  it("takes --config before the command too", async () => {
    expect(await run("--config", config, "company", "list")).toMatchObject({ code: 0 });
  });

  it("ends with 1 for a file that is in no ledger and for an entry that is not there", async () => {
    const explained = await run("explain", "1_20261105_080000.xml", "--config", config);
    expect(explained).toMatchObject({ code: 1, stderr: "" });
    expect(explained.stdout).toContain("neither the ledger nor any folder knows this name");
    expect(await run("file", "retry", "7", "--config", config)).toMatchObject({ code: 1, stdout: "" });
    const shown = await run("file", "show", "7", "--config", config);
    expect(shown).toMatchObject({ code: 1, stdout: "" });
    expect(shown.stderr).toBe("dropgate: there is no ledger entry 7: `dropgate files` lists them\n");
  });

  it("tells that a company is registered under another spelling", async () => {
    const { code, stdout } = await run("company", "add", "acme", "--config", config);
    expect(code).toBe(0);
    expect(stdout).toContain("Company ACME was registered already (acme is the same code)");
  });

  it("ends with 1 for a duplicate of a file that was refused, and shows its faults", async () => {
    const file = join(dir, "9_20261105_080000.xml");
    await writeFile(file, "<Stop/>");
    await enterRefused(join(dir, "var"), file);
    const { code, stdout } = await run("validate", file, "--config", config);
    expect(code).toBe(1);
    expect(stdout).toContain("would be answered as a duplicate");
    expect(stdout).toContain("is entry 1: refused");
    expect(stdout).toContain(": 951 ");
  });

  it("says when a list was cut, and only then", async () => {
    await enterRefused(join(dir, "var"), config);
    const cut = await run("files", "--limit", "1", "--json", "--config", config);
    expect(JSON.parse(cut.stdout)).toHaveLength(1);
    expect(cut.stderr).toContain("--limit shows more");
    expect((await run("files", "--limit", "2", "--config", config)).stderr).toBe("");
  });

  it.each([
    ["there is no file /nonexist", "/nonexist"],
    ["/tmp is a folder: name the files in it", "/tmp"],
  ])(
    "ends with 2 and without a reason code when what is to be validated is no file: %s",
    async (...[words, path]) => {
      const outcome = await run("validate", path, "--config", config);
      expect(outcome).toMatchObject({ code: 2, stdout: "" });
      expect(outcome.stderr).toContain(words);
      expect(outcome.stderr).not.toMatch(/\d{3}/);
    },
  );

  it("shows the status of a stop in words without doubled brackets", async () => {
    const file = join(dir, "s1_20261105_080000.xml");
    await writeFile(file, "<Stop><Function>01</Function><StopNbr>s1</StopNbr></Stop>");
    const { stdout } = await run("validate", file, "--config", config);
    expect(stdout).toContain("stop s1 would be created; status 05 created (no time window yet)\n");
  });

  it("says that an option of init was ignored, and where the value stands", async () => {
    const args = ["init", "--dir", dir, "--company", "ACME", "--user", "host1", "--http-port", "9"];
    const { code, stdout } = await run(...args);
    expect(code).toBe(0);
    expect(stdout).toContain(
      `--http-port 9 was ignored: ${config} was there already, and http.port is 0; change it there\n`,
    );
  });

  it("leaves nothing behind when the arguments of init are wrong", async () => {
    const folder = join(dir, "wrong");
    const { code, stderr } = await run("init", "--dir", folder, "--company", "BAD CODE", "--user", "h");
    expect(code).toBe(2);
    expect(stderr).toContain('the company code "BAD CODE" is not valid');
    expect(existsSync(folder)).toBe(false);
  });

  it.each(["user", "ledger", "init", "user remove-key"])("wraps the help of %s", async (command) => {
    const { stdout } = await run(...command.split(" "), "--help");
    const widths = stdout.split("\n").map((line) => line.length);
    expect(Math.max(...widths)).toBeLessThanOrEqual(100);
    expect(stdout).toMatch(/\n {20,}\S/);
  });

  it("reads a password from standard input", async () => {
    const argv = [
      "--disable-warning=ExperimentalWarning",
      main,
      "user",
      "set-password",
      "host1",
      "--config",
      config,
    ];
    const child = spawn(process.execPath, [...argv, "--password-file", "-"], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    child.stdin.end("a-new-password\n");
    const output: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
    const code = await new Promise((resolve) => child.once("close", resolve));
    expect(code).toBe(0);
    expect(Buffer.concat(output).toString()).toBe("The password of host1 is set.\n");
  });

  it("tells its version", async () => {
    expect((await runProcess("version")).stdout).toMatch(
      /^dropgate \d+\.\d+\.\d+ \((?:commit [^)]+, )?Node\.js 2/,
    );
    expect((await run("--version")).stdout).toMatch(/^dropgate \d+\.\d+\.\d+\n$/);
  });
});

it.each([
  ["user add-key", ["--key"]],
  ["user add", ["--company", "--role"]],
])(
  "the help of `%s` says which options are required, and without them it says so",
  async (command, required) => {
    const { stdout } = await run(...command.split(" "), "--help");
    for (const option of required) {
      const described = new RegExp(`${option} <[^]*?(?=\\n +-)`).exec(stdout)?.[0] ?? "";
      expect(described.replace(/\s+/g, " ")).toContain("(required)");
    }
    expect(stdout.match(/\(required\)/g)).toHaveLength(required.length);
    const missing = await run(...command.split(" "), "name");
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("required option")]);
  },
);
