/**
 * One node of a cluster: the real program with a configuration of its own, its way to the database, which can be held, and its
 * way to the tree, which can be frozen where `bindfs` is installed.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { applicationNameOf } from "./cluster-watch.ts";
import { askPostgres } from "./postgres-server.ts";
import { DaemonRun, type LogLine, type Settings } from "./daemon.ts";
import { isInstalled, runProgram } from "./run-program.ts";
import { program } from "./site-template.ts";
import { startLink, type TcpLink } from "./tcp-link.ts";
import { waitFor } from "./wait-for.ts";

/** Whether each node can have a way of its own to the tree. */
export const canFreezeTrees = isInstalled("bindfs") && existsSync("/dev/fuse") && process.geteuid?.() === 0;

/** In which a daemon finds the address of the database. */
const addressVariable = "CLUSTER_DATABASE";

export interface NodePlan {
  readonly name: string;
  /** What it has alone. */
  readonly folder: string;
  /** Where it notes which processes are to be ended at last. */
  readonly pids: string;
  readonly tree: string;
  readonly httpPort: number;
  readonly sftpPort: number;
  readonly leaseMs: number;
  readonly databasePort: () => number;
  /** The database itself, for looks at the sessions of the node. */
  readonly databaseUrl: () => string;
  readonly settings: Settings;
  readonly hasTreeOfItsOwn: boolean;
}

export class ClusterNode {
  readonly plan: NodePlan;
  readonly link: TcpLink;
  readonly runs: DaemonRun[] = [];
  #mount: ChildProcess | undefined;
  isFrozen = false;

  private constructor(plan: NodePlan, link: TcpLink) {
    this.plan = plan;
    this.link = link;
  }

  static async make(plan: NodePlan): Promise<ClusterNode> {
    await mkdir(plan.folder, { recursive: true });
    const node = new ClusterNode(plan, await startLink(plan.databasePort));
    if (plan.hasTreeOfItsOwn) await node.#mountTree();
    await node.#configure();
    return node;
  }

  get name(): string {
    return this.plan.name;
  }

  /** That of commands, and of whatever is no start of the node. */
  get configFile(): string {
    return join(this.plan.folder, "dropgate.yaml");
  }

  get http(): string {
    return `http://127.0.0.1:${this.plan.httpPort}`;
  }

  get run(): DaemonRun {
    const run = this.runs.at(-1);
    if (run === undefined) throw new Error(`${this.name} was not started`);
    return run;
  }

  get isRunning(): boolean {
    return this.runs.length > 0 && this.run.exitCode === undefined;
  }

  get log(): readonly LogLine[] {
    return this.runs.flatMap(({ log }) => log);
  }

  /** Resolves when it is ready. */
  async start(timeoutMs?: number): Promise<void> {
    const name = encodeURIComponent(applicationNameOf(this.name, this.runs.length + 1));
    const env = { [addressVariable]: `${this.#databaseUrl}?application_name=${name}` };
    const run = new DaemonRun(this.#servingFile, { env });
    this.runs.push(run);
    await writeFile(join(this.plan.pids, this.name), `${run.pid}`);
    await run.waitForLog(({ msg }) => msg === "ready", timeoutMs);
  }

  async kill(): Promise<void> {
    this.run.process.kill("SIGKILL");
    await this.run.exit;
    this.isFrozen = false;
  }

  /** Ends it in order; gives its exit code. */
  async stop(): Promise<number> {
    this.run.process.kill("SIGTERM");
    return await this.run.exit;
  }

  freeze(): void {
    this.isFrozen = true;
    this.run.process.kill("SIGSTOP");
  }

  thaw(): void {
    this.isFrozen = false;
    this.run.process.kill("SIGCONT");
  }

  /** Freezes it at a moment at which it has a transaction open; false when it had none in the time. */
  async freezeInTransaction(timeoutMs: number): Promise<boolean> {
    const open = `select 1 from pg_stat_activity where application_name = '${applicationNameOf(this.name, this.runs.length)}'
      and state = 'idle in transaction' and backend_xid is not null`;
    const until = performance.now() + timeoutMs;
    while (performance.now() < until) {
      this.freeze();
      // What it had sent has come to an end meanwhile.
      const isOpen = async () => (await askPostgres(this.plan.databaseUrl(), open)).length > 0;
      if ((await isOpen()) && (await isOpen())) return true;
      this.thaw();
      await new Promise((resolve) => setTimeout(resolve, 7));
    }
    return false;
  }

  /** Whatever it asks of the tree waits. */
  freezeTree(): void {
    this.#mount?.kill("SIGSTOP");
  }

  thawTree(): void {
    this.#mount?.kill("SIGCONT");
  }

  async end(): Promise<void> {
    this.thawTree();
    this.link.thaw();
    if (this.isRunning) {
      if (this.isFrozen) this.thaw();
      await this.kill();
    }
    await this.link.end();
    if (this.#mount === undefined) return;
    await runProgram("umount", ["-l", this.#treePath]);
    this.#mount.kill("SIGKILL");
  }

  /** A command of the program, run as on the machine of the node. */
  command(...args: readonly string[]) {
    return runProgram(program, [...args, "--config", this.configFile]);
  }

  /** That of the daemon: the address of the database says which process it is. */
  get #servingFile(): string {
    return join(this.plan.folder, "serving.yaml");
  }

  get #databaseUrl(): string {
    return `postgres://dropgate@127.0.0.1:${this.link.port}/dropgate`;
  }

  get #treePath(): string {
    return this.plan.hasTreeOfItsOwn ? join(this.plan.folder, "tree") : this.plan.tree;
  }

  async #mountTree(): Promise<void> {
    await mkdir(this.#treePath);
    // As on a network share without a cache: others change the tree too.
    const options = ["-f", "--multithreaded", "-o", "attr_timeout=0,entry_timeout=0,negative_timeout=0"];
    this.#mount = spawn("bindfs", [...options, this.plan.tree, this.#treePath], { stdio: "ignore" });
    await writeFile(join(this.plan.pids, `${this.name}-tree`), `${this.#mount.pid}`);
    await waitFor("the tree of the node", () => existsSync(join(this.#treePath, "keys")));
  }

  async #configure(): Promise<void> {
    const { name, leaseMs, httpPort, sftpPort, settings, folder } = this.plan;
    await writeFile(join(folder, "postgres-url"), `${this.#databaseUrl}\n`, { mode: 0o600 });
    const own = {
      ...{ stateDir: this.#treePath, cluster: { node: name, leaseMs } },
      ...{ http: { port: httpPort }, sftp: { port: sftpPort } },
    };
    const stores = [
      [this.configFile, "file:postgres-url"],
      [this.#servingFile, `env:${addressVariable}`],
    ] as const;
    for (const [path, store] of stores)
      await writeFile(path, `${JSON.stringify({ ...settings, ...own, store }, null, 2)}\n`);
  }
}
