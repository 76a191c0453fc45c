/** Further nodes of a site on PostgreSQL: daemons with its state directory and its database, and names of their own. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DaemonRun, program, type Settings, type Site } from "./daemon.ts";
import { runProgram } from "./run-program.ts";

/** Writes the configuration of the site with another name of the node, beside the first; gives its path. */
export async function nameNode(site: Site, node: string): Promise<string> {
  const settings = JSON.parse(await readFile(site.configFile, "utf8")) as Settings;
  const cluster = { ...(settings["cluster"] as Settings), node };
  const path = join(site.folder, `dropgate-${node}.yaml`);
  await writeFile(path, JSON.stringify({ ...settings, cluster }));
  return path;
}

export class TestNode {
  readonly configFile: string;
  run: DaemonRun;

  private constructor(configFile: string) {
    this.configFile = configFile;
    this.run = new DaemonRun(configFile, {});
  }

  /** Resolves when it is ready. */
  static async start(site: Site, name: string): Promise<TestNode> {
    const node = new TestNode(await nameNode(site, name));
    await node.#ready();
    return node;
  }

  async again(): Promise<void> {
    this.run = new DaemonRun(this.configFile, {});
    await this.#ready();
  }

  get sftpPort(): number {
    const line = this.run.log.find(({ msg }) => msg === "ready");
    return Number(String(line?.["sftp"]).split(":").at(-1));
  }

  get http(): string {
    return String(this.run.log.find(({ msg }) => msg === "ready")?.["http"]);
  }

  cli(...args: readonly string[]) {
    return runProgram(program, [...args, "--config", this.configFile]);
  }

  async stop(): Promise<void> {
    this.run.process.kill("SIGTERM");
    const exitCode = await this.run.exit;
    if (exitCode !== 0) throw new Error(`the node ended with ${exitCode}: ${this.run.text.slice(-2000)}`);
  }

  async kill(): Promise<void> {
    this.run.process.kill("SIGKILL");
    await this.run.exit;
  }

  async #ready(): Promise<void> {
    await this.run.waitForLog(({ msg }) => msg === "ready");
  }
}
