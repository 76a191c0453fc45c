/**
 * The real program with a state of its own: as after `dropgate init`, `dropgate serve` on free ports, and what it logs.
 *
 *   const site = await Site.make();   // dropgate.yaml, state, company ACME, user `host` with a password and a key
 *   await site.start();               // resolves at the line with "msg":"ready"
 *   …
 *   await site.end();                 // SIGTERM, exit code 0, no secret in the log, folder removed
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type ProgramResult, runProgram } from "./run-program.ts";
import { databaseUrlIn, removeDatabase, storeSettings } from "./site-database.ts";
import { clientFiles, company, plantSite, program, type SiteKind, user } from "./site-template.ts";
import { waitFor } from "./wait-for.ts";

export { company, program, user };

/** The section `security` of a site whose tests sign in wrongly: neither slowed down nor banned for it. */
export const lenient = { wrongPasswordDelayMs: 0, bans: { allow: ["127.0.0.0/8"] } };

/** The section `inbound` of a site that is started many times: with one thread for documents it is ready sooner. */
export const oneParser = { parserThreads: 1 };

/**
 * Commands that need no process of their own: they neither wait for anything nor change the process. They load the program
 * once for all of a test file, where a process for each costs a quarter of a second of a core.
 */
export const commandsHere: ReadonlySet<string> = new Set([
  ...["alerts", "arrivals", "company", "deliveries", "delivery", "explain", "export", "file", "files"],
  ...["ledger", "messages", "nodes", "user"],
]);

export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [name: string]: unknown;
}

export interface Settings {
  readonly [name: string]: Settings | string | number | boolean | readonly unknown[];
}

export interface StartOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** Runs as this user and group; for root only. */
  readonly userId?: number;
}

/**
 * With `DROPGATE_TEST_SYNC_DELAY_US` each sync of the daemons takes so much longer, as on a disk that is slow. The tracer is a
 * process beside, so that the daemon keeps its own id and its signals.
 */
function commandOf(args: readonly string[]): readonly [file: string, args: readonly string[]] {
  const delayUs = process.env["DROPGATE_TEST_SYNC_DELAY_US"];
  if (delayUs === undefined) return [program, args];
  const inject = `inject=fsync,fdatasync:delay_enter=${delayUs}`;
  const trace = ["-D", "-f", "--seccomp-bpf", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e", inject];
  return ["strace", [...trace, program, ...args]];
}

/** One run of `dropgate serve`. */
export class DaemonRun {
  readonly process: ChildProcess;
  readonly log: LogLine[] = [];
  /** Everything that was printed, to be searched for secrets. */
  text = "";
  readonly exit: Promise<number>;
  exitCode: number | undefined;

  constructor(configFile: string, options: StartOptions) {
    const { env, userId } = options;
    const [file, args] = commandOf(["serve", "--config", configFile]);
    this.process = spawn(file, args, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...env },
      ...(userId === undefined ? {} : { uid: userId, gid: userId }),
    });
    const { stdout, stderr } = this.process;
    if (stdout !== null) createInterface({ input: stdout }).on("line", (line) => this.#take(line));
    stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.text += text;
    });
    this.exit = new Promise((settle) => {
      this.process.on("close", (code) => {
        this.exitCode = code ?? 137;
        settle(this.exitCode);
      });
    });
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  /** The first line that fits, also when it has been printed already; rejects when the daemon ends before. */
  waitForLog(fits: (line: LogLine) => boolean, timeoutMs?: number): Promise<LogLine> {
    const look = () => {
      const found = this.log.find(fits);
      if (found === undefined && this.exitCode !== undefined)
        throw new Error(`ended with ${this.exitCode}: ${this.text.slice(-2000)}`);
      return found;
    };
    return waitFor("a line of the log", look, timeoutMs);
  }

  /** Resident memory now and at its highest, in MiB. */
  async memoryMb(): Promise<{ now: number; peak: number }> {
    const status = await readFile(`/proc/${this.pid}/status`, "utf8");
    const value = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0) / 1024;
    return { now: value("VmRSS"), peak: value("VmHWM") };
  }

  #take(line: string): void {
    this.text += `${line}\n`;
    if (line.startsWith("{")) this.log.push(JSON.parse(line) as LogLine);
  }
}

async function writeSecret(path: string, content: string): Promise<void> {
  await writeFile(path, content, { mode: 0o600 });
}

export class Site {
  readonly folder: string;
  readonly configFile: string;
  #stateDir: string;
  /** Working folder and keys of the clients. */
  readonly client: string;
  readonly runs: DaemonRun[] = [];
  #password = "";
  #hostKey = "";
  #settings: Settings;

  private constructor(folder: string, settings: Settings, stateDir: string | undefined) {
    this.folder = folder;
    this.#settings = settings;
    this.configFile = join(folder, "dropgate.yaml");
    this.#stateDir = stateDir ?? join(folder, "var");
    this.client = join(folder, "client");
  }

  /** A state with the company ACME and the user `host`, and what its kind adds. `settings` are those of dropgate.yaml. */
  static async make(settings: Settings = {}, stateDir?: string, kind?: SiteKind): Promise<Site> {
    const site = new Site(await mkdtemp(join(tmpdir(), "dropgate-e2e-")), settings, stateDir);
    await mkdir(site.client);
    const { password, hostKey } = await plantSite(site.folder, site.stateDir, kind);
    site.#password = password;
    site.#hostKey = hostKey;
    // JSON is YAML.
    await site.configure(settings);
    return site;
  }

  get stateDir(): string {
    return this.#stateDir;
  }

  /** Goes on with the state that is, or will be, in another folder. */
  async moveTo(stateDir: string): Promise<void> {
    this.#stateDir = stateDir;
    await this.configure(this.#settings);
  }

  /** The address of its database, where that is on PostgreSQL. */
  get databaseUrl(): string | undefined {
    return databaseUrlIn(this.folder);
  }

  get password(): string {
    return this.#password;
  }

  get passwordFile(): string {
    return join(this.folder, clientFiles.password);
  }

  get keyFile(): string {
    return join(this.folder, clientFiles.key);
  }

  get knownHostsFile(): string {
    return join(this.folder, "known_hosts");
  }

  get daemon(): DaemonRun {
    const run = this.runs.at(-1);
    if (run === undefined) throw new Error("the daemon was not started");
    return run;
  }

  get isRunning(): boolean {
    return this.runs.at(-1)?.exitCode === undefined && this.runs.length > 0;
  }

  /** Base address of HTTP, from the line that says "ready". */
  get http(): string {
    return String(this.#ready()["http"]);
  }

  get sftpPort(): number {
    return Number(String(this.#ready()["sftp"]).split(":").at(-1));
  }

  /** The port of FTP, where `ftp` is enabled in the settings. */
  get ftpPort(): number {
    return Number(String(this.#ready()["ftp"]).split(":").at(-1));
  }

  /** The port of implicit FTPS, where there is one. */
  get ftpsPort(): number {
    return Number(String(this.#ready()["ftps"]).split(":").at(-1));
  }

  get log(): readonly LogLine[] {
    return this.runs.flatMap((run) => run.log);
  }

  /** Absolute path in the company's tree. */
  path(...parts: readonly string[]): string {
    return join(this.stateDir, "companies", company, ...parts);
  }

  /** Writes dropgate.yaml anew; ports are free ones unless `settings` name others. */
  async configure(settings: Settings): Promise<void> {
    this.#settings = settings;
    const { http, sftp, ftp, ...rest } = settings;
    const port = (section: Settings[string] | undefined) => ({
      port: 0,
      ...(typeof section === "object" ? section : {}),
    });
    const withFtp = ftp === undefined ? {} : { ftp: port(ftp) };
    const own = { stateDir: this.stateDir, ...storeSettings };
    const all = { ...own, http: port(http), sftp: port(sftp), ...withFtp, ...rest };
    await writeFile(this.configFile, `${JSON.stringify(all, null, 2)}\n`);
  }

  /** Changes some settings, at the top level of the file. */
  reconfigure(settings: Settings): Promise<void> {
    return this.configure({ ...this.#settings, ...settings });
  }

  /** Runs a command of the program on this state as a process, for tests of the command. */
  cli(...args: readonly string[]): Promise<ProgramResult> {
    return runProgram(program, [...args, "--config", this.configFile]);
  }

  /**
   * Runs a command that has to succeed, as the means of a test; gives its standard output. In this process where it needs none
   * of its own, unless the state is of another user, whom the process would turn into.
   */
  async mustRun(...args: readonly string[]): Promise<string> {
    if (commandsHere.has(args[0] ?? "") && (await this.#isOwn())) {
      const { runInProcess } = await import("./run-in-process.ts");
      return await runInProcess(this, ...args);
    }
    const result = await this.cli(...args);
    if (result.exitCode !== 0)
      throw new Error(`dropgate ${args.join(" ")} ended with ${result.exitCode}: ${result.output}`);
    return result.stdout;
  }

  async json<T>(...args: readonly string[]): Promise<T> {
    return JSON.parse(await this.mustRun(...args, "--json")) as T;
  }

  /** Adds a user and gives the file that holds its password. */
  async addUser(name: string, roles: readonly string[], companyCode = company): Promise<string> {
    const file = join(this.folder, `password-${name}`);
    await writeSecret(file, `${this.password}\n`);
    const roleArgs = roles.flatMap((role) => ["--role", role]);
    await this.mustRun("user", "add", name, "--company", companyCode, ...roleArgs, "--password-file", file);
    return file;
  }

  /** Starts the daemon; resolves when it is ready. */
  async start(options: StartOptions = {}): Promise<DaemonRun> {
    const run = new DaemonRun(this.configFile, options);
    this.runs.push(run);
    await run.waitForLog(({ msg }) => msg === "ready");
    await writeFile(this.knownHostsFile, `[127.0.0.1]:${this.sftpPort} ${this.#hostKey}\n`);
    return run;
  }

  /** Ends the daemon in order. Throws when it does not end with 0. */
  async stop(): Promise<void> {
    const { daemon } = this;
    daemon.process.kill("SIGTERM");
    const exitCode = await daemon.exit;
    if (exitCode !== 0) throw new Error(`dropgate serve ended with ${exitCode}: ${daemon.text.slice(-2000)}`);
  }

  async kill(): Promise<void> {
    this.daemon.process.kill("SIGKILL");
    await this.daemon.exit;
  }

  /** Ends everything and removes the folder. Throws when a secret has been printed. */
  async end(): Promise<void> {
    try {
      if (this.isRunning) await this.stop();
      this.assertNoSecrets();
    } finally {
      if (this.isRunning) await this.kill();
      await removeDatabase(this.folder);
      await rm(this.folder, { recursive: true, force: true });
    }
  }

  assertNoSecrets(): void {
    const printed = this.runs.map(({ text }) => text).join("");
    const basic = Buffer.from(`${user}:${this.password}`).toString("base64");
    for (const secret of [this.password, basic, "PRIVATE KEY", "scrypt$"]) {
      if (printed.includes(secret)) throw new Error(`the log shows a secret: ${secret}`);
    }
  }

  /** A script that answers the SSH client's question for the password. */
  async askPass(password = this.password): Promise<NodeJS.ProcessEnv> {
    const script = join(this.folder, `ask-${randomBytes(4).toString("hex")}`);
    await writeFile(script, `#!/bin/sh\necho '${password}'\n`);
    await chmod(script, 0o700);
    return { ...process.env, SSH_ASKPASS: script, SSH_ASKPASS_REQUIRE: "force", DISPLAY: ":0" };
  }

  async #isOwn(): Promise<boolean> {
    const { uid } = await stat(this.stateDir).catch(() => ({ uid: undefined }));
    return uid === process.getuid?.();
  }

  #ready(): LogLine {
    const line = this.daemon.log.find(({ msg }) => msg === "ready");
    if (line === undefined) throw new Error("the daemon is not ready");
    return line;
  }
}
