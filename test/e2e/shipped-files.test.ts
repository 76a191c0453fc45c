/** What is shipped beside the program works with it: sample configuration, systemd unit, launcher, `npm start`. */
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exitCodes } from "../../src/cli/command-line.ts";
import { markerFileName } from "../../src/store/database/database.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { program } from "../support/daemon.ts";
import { ConsoleBrowser } from "../support/console.ts";
import { runDemo } from "../support/run-demo.ts";
import { isInstalled, runProgram } from "../support/run-program.ts";

const home = resolve(import.meta.dirname, "../..");
const unit = join(home, "systemd/dropgate.service");

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "dropgate-e2e-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Every command below the given one, by its words; each says how it is used. */
async function commandsBelow(words: readonly string[]): Promise<string[][]> {
  const { exitCode, stdout } = await runProgram(program, [...words, "--help"]);
  expect(exitCode, words.join(" ")).toBe(0);
  expect(stdout).toContain(["Usage: dropgate", ...words].join(" "));
  expect(stdout).toContain("--help");
  const [, listed = ""] = stdout.split("\nCommands:\n");
  const names = [...listed.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name = ""]) => name);
  const own = names.filter((name) => name !== "help").map((name) => [...words, name]);
  const below = await Promise.all(own.map(commandsBelow));
  return [...own, ...below.flat()];
}

describe("config/dropgate.example.yaml", () => {
  test("is taken by the program as it is, by --config and by DROPGATE_CONFIG", async () => {
    const file = join(folder, "dropgate.yaml");
    await copyFile(join(home, "config/dropgate.example.yaml"), file);
    const init = await runProgram(program, ["init", "--dir", folder, "--company", "ACME", "--user", "host"]);
    expect(init.exitCode, init.output).toBe(0);
    const named = await runProgram(program, ["company", "list", "--json", "--config", file]);
    const found = await runProgram(program, ["company", "list", "--json"], {
      cwd: tmpdir(),
      env: { ...process.env, DROPGATE_CONFIG: file },
    });
    for (const { exitCode, output } of [named, found]) {
      expect(exitCode, output).toBe(0);
      expect(output).toContain("ACME");
    }
  });

  test("check reports every problem of the real world at once, and ends with 2", async () => {
    const elsewhere = join(folder, "check");
    await mkdir(elsewhere);
    const file = join(elsewhere, "dropgate.yaml");
    const settings = { http: { port: 0 }, sftp: { port: 0 }, stateDir: "./var" };
    await writeFile(file, JSON.stringify(settings));
    const args = ["--dir", elsewhere, "--company", "ACME", "--user", "host"];
    await runProgram(program, ["init", ...args]);
    const fine = await runProgram(program, ["check", "--config", file]);
    expect(fine.exitCode, fine.output).toBe(0);
    const missing = { companies: { ACME: { folders: [{ path: "/nowhere/at/all" }] } } };
    const tls = { certFile: "/nowhere/cert.pem", keyFile: "/nowhere/key.pem" };
    await writeFile(file, JSON.stringify({ ...settings, ...missing, http: { port: 0, tls } }));
    const bad = await runProgram(program, ["check", "--config", file]);
    expect(bad.exitCode, bad.output).toBe(2);
    expect(bad.output).toContain("/nowhere/at/all");
    expect(bad.output).toMatch(/certificate and key of HTTPS .*\/nowhere\//);
  });
});

describe("systemd/dropgate.service", () => {
  async function settingOf(name: string): Promise<string> {
    return new RegExp(`^${name}=(.*)$`, "m").exec(await readFile(unit, "utf8"))?.[1] ?? "";
  }

  test("gives the daemon longer to stop than it takes to drain, and the watchdog longer than its self-check", async () => {
    const loaded = await loadConfig({ path: join(home, "config/dropgate.example.yaml"), env: {}, cwd: home });
    if (loaded.kind === "faulty") throw new Error("the sample configuration does not load");
    expect(Number(await settingOf("TimeoutStopSec")) * 1000).toBeGreaterThan(loaded.config.shutdown.drainMs);
    const watchdogMs = Number(await settingOf("WatchdogSec")) * 1000;
    // A beat comes after half the time, and the self-check before it may take its whole time-out.
    expect(watchdogMs / 2).toBeGreaterThan(loaded.config.watchdog.selfCheckTimeoutMs);
  });

  test("checks before it starts, runs as a user of its own, and is told by notify", async () => {
    expect(await settingOf("Type")).toBe("notify");
    expect(await settingOf("ExecStartPre")).toMatch(/dropgate check$/);
    expect(await settingOf("ExecStart")).toMatch(/dropgate serve$/);
    expect(await settingOf("User")).toBe("dropgate");
    expect(await settingOf("LimitCORE")).toBe("0");
    expect(await settingOf("RestartPreventExitStatus")).toBe(String(exitCodes.wrongUse));
    expect(await settingOf("AssertPathExists")).toBe(`/var/lib/dropgate/${markerFileName}`);
  });

  test("runs programs of its own and the shell alone: a small system has neither kill nor others", async () => {
    const lines = [...(await readFile(unit, "utf8")).matchAll(/^Exec\w+=(\S+)/gm)];
    expect(lines.length).toBeGreaterThan(2);
    const foreign = lines.map(([, path = ""]) => path).filter((path) => !path.startsWith("/opt/dropgate/"));
    expect(new Set(foreign)).toEqual(new Set(["/bin/sh"]));
  });

  test.skipIf(!isInstalled("systemd-analyze"))(
    "is hardened: at most 2.0 of 10 by systemd's own measure",
    async () => {
      const result = await runProgram("systemd-analyze", ["security", "--offline=true", "--no-pager", unit]);
      const level = /Overall exposure level for \S+: ([\d.]+)/.exec(result.output)?.[1];
      expect(Number(level), result.output).toBeLessThanOrEqual(2);
    },
  );
});

describe("bin/dropgate", () => {
  test("works through a link, from any folder, and prints the version of package.json", async () => {
    const link = join(folder, "dropgate");
    await symlink(program, link);
    const { version } = JSON.parse(await readFile(join(home, "package.json"), "utf8")) as { version: string };
    const result = await runProgram(link, ["version"], { cwd: "/" });
    expect(result.exitCode, result.output).toBe(0);
    expect(result.output).toContain(version);
  });

  test("gives the program 16 threads for files, unless the environment says otherwise", async () => {
    const NODE_OPTIONS =
      "--import=data:text/javascript,console.log('threads',process.env.UV_THREADPOOL_SIZE)";
    const { UV_THREADPOOL_SIZE: _own, ...env } = process.env;
    const own = await runProgram(program, ["version"], { env: { ...env, NODE_OPTIONS } });
    expect(own.output).toContain("threads 16\n");
    const set = await runProgram(program, ["version"], {
      env: { ...env, NODE_OPTIONS, UV_THREADPOOL_SIZE: "40" },
    });
    expect(set.output).toContain("threads 40\n");
  });

  test("an unknown command or option ends with 2 and words, each command has --help", async () => {
    const unknown = await runProgram(program, ["nonsense"]);
    expect(unknown.exitCode).toBe(2);
    expect(unknown.output).toContain("nonsense");
    const commands = await commandsBelow([]);
    expect(commands.map((command) => command.join(" "))).toEqual(
      expect.arrayContaining(["init", "serve", "check", "validate", "explain", "version", "ledger verify"]),
    );
  });
});

test("npm start's script makes a demo state and runs on it, saying how to sign in", async () => {
  const demo = join(folder, "demo");
  await runDemo(demo, async (printed) => {
    expect(printed).toContain('"msg":"ready"');
    const password = /^Password: +([0-9a-f]{18})$/m.exec(printed)?.[1] ?? "";
    expect(password).toBe(await readFile(join(demo, "demo.password"), "utf8"));
    const base = /"http":"([^"]+)"/.exec(printed)?.[1] ?? "";
    const authorization = `Basic ${Buffer.from(`demo:${password}`).toString("base64")}`;
    const reply = await fetch(`${base}/v5/stop/info/NONE/DEMO`, { headers: { authorization } });
    expect(reply.status).toBe(404);
  });
});

test("npm start's script says first where the console is, and how its administrator signs in", async () => {
  await runDemo(join(folder, "demo"), async (printed) => {
    const [, said = "", name = "", password = ""] =
      /^(Console: +http:\/\/\S+\/console)\n +as (\w+), password ([0-9a-f]{18})$/m.exec(printed) ?? [];
    expect(printed.indexOf(said)).toBeLessThan(printed.indexOf("\nHTTP: "));
    const base = /"console":"([^"]+)\/console"/.exec(printed)?.[1] ?? "";
    const browser = new ConsoleBrowser(base);
    expect((await browser.signIn(name, password)).status).toBe(303);
    expect((await browser.get("/console/password")).status).toBe(200);
  });
});
