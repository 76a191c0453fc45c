/** A network share whose server stops answering: sshfs over an SFTP server that is stopped by a signal. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemCodeOf } from "../../src/lib/errors.ts";
import { isInstalled, runProgram } from "./run-program.ts";
import { waitFor } from "./wait-for.ts";

const sftpServers = ["/usr/lib/openssh/sftp-server", "/usr/libexec/openssh/sftp-server"];
const sftpServer = sftpServers.find((path) => existsSync(path));

/** Whether such a share can be mounted here. */
export const canMountShares = isInstalled("sshfs") && existsSync("/dev/fuse") && sftpServer !== undefined;

const dyingServer = fileURLToPath(new URL("./dying-sftp-server.ts", import.meta.url));

const sentinelOf = (path: string) => `${path}.dying`;

export class FrozenShare {
  /** Where it is mounted. */
  readonly path: string;
  /** The folder that it shows; it can be used while the share is frozen. */
  readonly served: string;
  readonly #serverPid: number;

  private constructor(path: string, served: string, serverPid: number) {
    this.path = path;
    this.served = served;
    this.#serverPid = serverPid;
  }

  /** Mounts one with empty folders of these names, below a folder of the test. */
  static async mount(folder: string, folders: readonly string[]): Promise<FrozenShare> {
    const [served, path, pidFile] = ["served", "share", "server.pid"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    for (const name of folders) await mkdir(join(served, name), { recursive: true });
    await mkdir(path);
    const command = join(folder, "serve-share");
    const server = `${process.execPath} ${dyingServer} ${sentinelOf(path)} ${sftpServer}`;
    await writeFile(command, `#!/bin/sh\necho $$ >${pidFile}\nexec ${server}\n`);
    await chmod(command, 0o755);
    // In the foreground: in the background sshfs would end before its server is known.
    const options = ["-f", "-o", `ssh_command=${command}`, "-o", "dir_cache=no"];
    const sshfs = spawn("sshfs", [...options, `host:${served}`, path], { stdio: "ignore" });
    sshfs.on("error", () => undefined);
    await waitFor("the share to be mounted", () => existsSync(join(path, folders[0] ?? ".")));
    return new FrozenShare(path, served, Number(await readFile(pidFile, "utf8")));
  }

  /** How many bytes of requests the server of the share has read. */
  async askedBytes(): Promise<number> {
    const io = await readFile(`/proc/${this.#serverPid}/io`, "utf8");
    return Number(/^rchar: (\d+)/m.exec(io)?.[1]);
  }

  /** From here on nothing on it is answered. */
  freeze(): void {
    process.kill(this.#serverPid, "SIGSTOP");
  }

  /** From the next listing of a folder on nothing is answered; until then all is. */
  async dieAtNextList(): Promise<void> {
    await writeFile(sentinelOf(this.path), "");
  }

  thaw(): void {
    process.kill(this.#serverPid, "SIGCONT");
  }

  async end(): Promise<void> {
    this.thaw();
    await runProgram("fusermount", ["-u", "-z", this.path]);
    // What it has not answered would keep the share, and who asks, for ever.
    try {
      process.kill(this.#serverPid, "SIGKILL");
    } catch (error) {
      if (systemCodeOf(error) !== "ESRCH") throw error;
    }
  }
}
