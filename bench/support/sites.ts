/** Servers to be measured, each a process of its own with a folder, a port and a key of its own, on 127.0.0.1. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { openSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { newFolder } from "./folders.ts";
import { runProgram } from "./run-program.ts";

export const companyCode = "ACME";
export const userName = "bench";

/** The checkout whose build is measured. */
export const defaultHome = resolve(import.meta.dirname, "../..");

/** A server that takes files over SFTP. */
export interface SftpSite {
  readonly name: string;
  readonly port: number;
  readonly keyFile: string;
  readonly login: string;
  /** Folder for uploads, as the client names it. */
  readonly uploads: string;
  /** Makes a `put` durable before it is answered. */
  readonly put: "put" | "put -f";
}

export interface DaemonSite extends SftpSite {
  readonly process: ChildProcess;
  /** 0 when FTP is switched off. */
  readonly ftpPort: number;
  /** Base address of HTTP. */
  readonly http: string;
  readonly password: string;
  readonly authorization: string;
  readonly folder: string;
  /** From the start of the process to the line that says "ready". */
  readonly readyMs: number;
  path(...parts: readonly string[]): string;
  end(): Promise<void>;
}

export interface SshdSite extends SftpSite {
  readonly folder: string;
  end(): Promise<void>;
}

async function makeKey(file: string): Promise<void> {
  await runProgram("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", file]);
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}

export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((done) => child.once("exit", done));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 20_000);
  await ended;
  clearTimeout(timer);
}

/** Resident memory in MB, now and at its highest since the start. */
export async function memoryOf(child: ChildProcess): Promise<{ nowMb: number; peakMb: number }> {
  const status = await readFile(`/proc/${child.pid}/status`, "utf8");
  const value = (name: string) =>
    (Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024) / 1e6;
  return { nowMb: value("VmRSS"), peakMb: value("VmHWM") };
}

/** Processor time of a process so far, all threads together. */
export async function cpuMsOf(child: ChildProcess): Promise<number> {
  const stat = await readFile(`/proc/${child.pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

export interface Prepared {
  readonly folder: string;
  readonly password: string;
  readonly keyFile: string;
  readonly home: string;
}

/** `dropgate init` and a key for the user; `settings` are further ones of the configuration. */
export async function prepareDaemon(home = defaultHome, settings: object = {}): Promise<Prepared> {
  const folder = await newFolder("daemon");
  const password = randomBytes(9).toString("hex");
  const program = join(home, "bin/dropgate");
  const passwordFile = join(folder, "password");
  const keyFile = join(folder, "key");
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  const config = {
    stateDir: join(folder, "var"),
    http: { port: 0 },
    sftp: { port: 0 },
    ...settings,
  };
  await writeFile(join(folder, "dropgate.yaml"), JSON.stringify(config));
  const account = ["--company", companyCode, "--user", userName, "--password-file", passwordFile];
  await runProgram(program, ["init", "--dir", folder, ...account]);
  await makeKey(keyFile);
  const configFile = join(folder, "dropgate.yaml");
  await runProgram(program, ["user", "add-key", userName, "--key", `${keyFile}.pub`, "--config", configFile]);
  return { folder, password, keyFile, home };
}

interface ReadyLine {
  readonly http: string;
  readonly sftp: string;
  readonly ftp?: string;
}

/** The log goes to a file, as it does under systemd: reading it here would take time from what is measured. */
async function readyLineOf(logFile: string, child: ChildProcess): Promise<ReadyLine> {
  for (;;) {
    const text = await readFile(logFile, "utf8");
    const line = text.split("\n").find((each) => each.includes('"msg":"ready"'));
    if (line !== undefined) return JSON.parse(line) as ReadyLine;
    if (child.exitCode !== null) throw new Error(`the daemon ended:\n${text}`);
    await wait(5);
  }
}

export async function startDaemon(prepared: Prepared, env: NodeJS.ProcessEnv = {}): Promise<DaemonSite> {
  const { folder, password, keyFile, home } = prepared;
  const logFile = join(folder, `log-${randomBytes(4).toString("hex")}`);
  const log = openSync(logFile, "a");
  const args = ["serve", "--config", join(folder, "dropgate.yaml")];
  const startedAt = performance.now();
  const child = spawn(join(home, "bin/dropgate"), args, {
    stdio: ["ignore", log, log],
    env: { ...process.env, ...env },
  });
  const { http, sftp, ftp } = await readyLineOf(logFile, child);
  return {
    name: "dropgate",
    process: child,
    port: Number(sftp.split(":").at(-1)),
    ftpPort: Number(ftp?.split(":").at(-1) ?? 0),
    http,
    password,
    authorization: `Basic ${Buffer.from(`${userName}:${password}`).toString("base64")}`,
    keyFile,
    login: userName,
    uploads: "/inbound",
    put: "put",
    folder,
    readyMs: performance.now() - startedAt,
    path: (...parts) => join(folder, "var", "companies", companyCode, ...parts),
    end: () => endProcess(child),
  };
}

/** OpenSSH's own server with its built-in SFTP, as the user who runs this. */
export async function startSshd(): Promise<SshdSite> {
  const folder = await newFolder("sshd");
  const [port, keyFile, hostKey] = [await freePort(), join(folder, "key"), join(folder, "host_key")];
  await Promise.all([makeKey(keyFile), makeKey(hostKey), mkdir(join(folder, "uploads"))]);
  await writeFile(join(folder, "authorized_keys"), await readFile(`${keyFile}.pub`));
  const settings = [
    `Port ${port}`,
    "ListenAddress 127.0.0.1",
    `HostKey ${hostKey}`,
    `AuthorizedKeysFile ${join(folder, "authorized_keys")}`,
    `PidFile ${join(folder, "pid")}`,
    "StrictModes no",
    "UsePAM no",
    "UseDNS no",
    "PermitRootLogin yes",
    "PasswordAuthentication no",
    "Subsystem sftp internal-sftp",
  ];
  const configFile = join(folder, "sshd_config");
  await writeFile(configFile, `${settings.join("\n")}\n`);
  if (process.getuid?.() === 0) await mkdir("/run/sshd", { recursive: true, mode: 0o755 });
  const child = spawn("/usr/sbin/sshd", ["-D", "-f", configFile], { stdio: "ignore" });
  const { USER, LOGNAME } = process.env;
  return {
    name: "OpenSSH",
    port,
    keyFile,
    login: process.getuid?.() === 0 ? "root" : (USER ?? LOGNAME ?? "root"),
    uploads: join(folder, "uploads"),
    put: "put -f",
    folder,
    end: () => endProcess(child),
  };
}
