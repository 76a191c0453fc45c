/**
 * PostgreSQL as several nodes need it: a primary, whose commits are on the disk, and on request a standby that has each of
 * them before it is answered. The primary can be killed and started again; or the standby takes over, and the former primary
 * is made anew as its standby. Whoever connects asks for the port of the primary each time.
 */
import { spawn } from "node:child_process";
import { chmod, chown, mkdir, rm, writeFile } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { systemCodeOf } from "../../src/lib/errors.ts";
import { postgresProgram } from "./postgres-programs.ts";
import { askPostgres } from "./postgres-server.ts";
import { runProgram } from "./run-program.ts";
import { freePort } from "./server-process.ts";
import { waitFor } from "./wait-for.ts";

const nobody = 65_534;
const isRoot = process.geteuid?.() === 0;
/** The server refuses to run as root. */
const account = isRoot ? { uid: nobody, gid: nobody } : {};
const database = "dropgate";

const settings = [
  ...["fsync=on", "wal_level=replica", "max_wal_senders=8", "wal_keep_size=256MB", "hot_standby=on"],
  ...["max_connections=300", "shared_buffers=128MB", "max_wal_size=512MB", "wal_sender_timeout=5s"],
  // How soon a standby asks again for a primary that was away; commits wait for it. As docs/cluster.md advises.
  "wal_retrieve_retry_interval=200ms",
  ...["listen_addresses=127.0.0.1", "unix_socket_directories=", "log_min_messages=warning"],
];

/** Runs it as the user of the server. */
async function run(name: string, args: readonly string[], folder: string): Promise<void> {
  const { exitCode, output } = await new Promise<{ exitCode: number; output: string }>((resolve) => {
    const child = spawn(postgresProgram(name), args, {
      ...account,
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        said += text;
      });
    // Not "close": the server that was started keeps the streams.
    child.on("exit", (code) => resolve({ exitCode: code ?? 137, output: said }));
  });
  if (exitCode !== 0) throw new Error(`${name} ${args.join(" ")} ended with ${exitCode}: ${output}`);
}

/** One server with its folder and its port. */
class Server {
  readonly folder: string;
  readonly port: number;

  constructor(folder: string, port: number) {
    this.folder = folder;
    this.port = port;
  }

  get data(): string {
    return join(this.folder, "data");
  }

  get url(): string {
    return `postgres://dropgate@127.0.0.1:${this.port}/${database}`;
  }

  /** An empty one. */
  async make(): Promise<void> {
    await this.#makeFolder();
    const made = ["-U", "dropgate", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"];
    await run("initdb", ["-D", this.data, ...made], this.folder);
    await this.#allow();
    await this.start();
    await askPostgres(this.url.replace(/[^/]+$/, "postgres"), `create database ${database}`);
  }

  /** A standby of the other one. */
  async copyFrom({ port }: Server): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
    await this.#makeFolder();
    const from = ["-h", "127.0.0.1", "-p", String(port), "-U", "dropgate"];
    const how = ["-X", "stream", "--checkpoint=fast", "--no-sync", "-R"];
    await run("pg_basebackup", ["-D", this.data, ...from, ...how], this.folder);
    await this.start();
  }

  async start(): Promise<void> {
    const options = [...settings, `port=${this.port}`].map((setting) => `-c ${setting}`).join(" ");
    const started = ["-D", this.data, "-w", "-t", "120", "-l", join(this.folder, "log"), "-o", options];
    await run("pg_ctl", [...started, "start"], this.folder);
  }

  async promote(): Promise<void> {
    await run("pg_ctl", ["-D", this.data, "-w", "promote"], this.folder);
  }

  pid(): number {
    return Number.parseInt(readFileSync(join(this.data, "postmaster.pid"), "utf8"), 10);
  }

  async kill(): Promise<void> {
    const { stdout } = await runProgram("ps", ["-o", "pid=", "--ppid", String(this.pid())]);
    const children = stdout.split(/\s+/).filter((each) => each !== "");
    const pids = [this.pid(), ...children.map(Number)];
    for (const one of pids) signal(one, "SIGKILL");
    await waitFor("the server to be gone", () => pids.every((one) => !signal(one, 0)));
  }

  async end(): Promise<void> {
    await run("pg_ctl", ["-D", this.data, "-m", "immediate", "stop"], this.folder).catch(() => undefined);
    await rm(this.folder, { recursive: true, force: true });
  }

  async #makeFolder(): Promise<void> {
    await mkdir(this.data, { recursive: true });
    await chmod(this.data, 0o700);
    if (isRoot) for (const path of [this.folder, this.data]) await chown(path, nobody, nobody);
  }

  async #allow(): Promise<void> {
    const hosts = ["host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"];
    await writeFile(join(this.data, "pg_hba.conf"), `${hosts.join("\n")}\n`);
  }
}

/** Whether there was such a process. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch (error) {
    if (systemCodeOf(error) !== "ESRCH") throw error;
    return false;
  }
}

export class ClusterDatabase {
  #primary: Server;
  #standby: Server | undefined;

  private constructor(primary: Server) {
    this.#primary = primary;
  }

  /** In folders beside this one, which its user can enter. */
  static async start(
    folder: string,
    { hasStandby }: { readonly hasStandby: boolean },
  ): Promise<ClusterDatabase> {
    const made = new ClusterDatabase(new Server(`${folder}-1`, await freePort()));
    await made.#primary.make();
    if (hasStandby) await made.#follow(new Server(`${folder}-2`, await freePort()));
    return made;
  }

  get port(): number {
    return this.#primary.port;
  }

  /** Of the primary itself. */
  get url(): string {
    return this.#primary.url;
  }

  /** The first process of the primary. */
  pid(): number {
    return this.#primary.pid();
  }

  get hasStandby(): boolean {
    return this.#standby !== undefined;
  }

  ask(text: string): Promise<readonly unknown[][]> {
    return askPostgres(this.url, text);
  }

  /** With SIGKILL, all of its processes. */
  kill(): Promise<void> {
    return this.#primary.kill();
  }

  /** Resolves when commits are answered: the standby follows again. */
  async start(): Promise<void> {
    await this.#primary.start();
    if (this.hasStandby) await this.#untilFollowed();
  }

  /** The primary is killed, and the standby is the primary from now on. */
  async promote(): Promise<void> {
    const [former, next] = [this.#primary, this.#standby];
    if (next === undefined) throw new Error("there is no standby");
    await former.kill();
    await next.promote();
    this.#primary = next;
    this.#standby = undefined;
    // It would wait for a standby of its own with each commit.
    await this.#await("");
    this.#former = former;
  }

  #former: Server | undefined;

  /** Makes the former primary a standby of the new one; from then on commits wait for it. */
  async restoreStandby(): Promise<void> {
    const former = this.#former;
    this.#former = undefined;
    if (former !== undefined) await this.#follow(former);
  }

  async end(): Promise<void> {
    for (const server of [this.#standby, this.#primary, this.#former]) await server?.end();
  }

  async #follow(standby: Server): Promise<void> {
    await standby.copyFrom(this.#primary);
    this.#standby = standby;
    await this.#untilFollowed();
    await this.#await("*");
  }

  async #untilFollowed(): Promise<void> {
    await waitFor("the standby to follow", async () => {
      const rows = await this.ask("select 1 from pg_stat_replication where state = 'streaming'");
      return rows.length > 0;
    });
  }

  /** Of which standbys one must have a commit before it is answered. */
  async #await(names: string): Promise<void> {
    await this.ask(`alter system set synchronous_standby_names = '${names}'`);
    await this.ask("select pg_reload_conf()");
  }
}
