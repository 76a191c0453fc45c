/** A host outside of the machine that is walked through: OpenSSH's client, its key, and what it has sent. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProgramResult, RunOptions } from "../support/run-program.ts";
import { parseReceipt, type Receipt, receiptName, stopFile } from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";
import { mustRun } from "./transcript.ts";

/** Runs a program where the machine can be reached. */
export type RunBeside = (
  program: string,
  args: readonly string[],
  options: RunOptions,
) => Promise<ProgramResult>;

export const company = "DEMO";
export const user = "acme-host";

export class PackageHost {
  readonly folder: string;
  readonly #runBeside: RunBeside;
  #serial = 1000;

  private constructor(folder: string, runBeside: RunBeside) {
    this.folder = folder;
    this.#runBeside = runBeside;
  }

  static async make(runBeside: RunBeside): Promise<PackageHost> {
    const folder = await mkdtemp(join(tmpdir(), "dropgate-host-"));
    await mustRun("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(folder, "key")]);
    return new PackageHost(folder, runBeside);
  }

  async publicKey(): Promise<string> {
    return await readFile(join(this.folder, "key.pub"), "utf8");
  }

  /** A new stop in a file of its own, put once; its name and what the client said. */
  async put(): Promise<{ readonly name: string; readonly result: ProgramResult }> {
    const name = await this.write();
    return { name, result: await this.sftp([`put ${name} /inbound/${name}`]) };
  }

  /** Writes a file that creates a new stop. */
  async write(more = ""): Promise<string> {
    this.#serial += 1;
    const { name, content } = stopFile(String(this.#serial), { more });
    await writeFile(join(this.folder, name), content);
    return name;
  }

  /** The receipt, fetched as hosts do. */
  async receipt(name: string): Promise<{ readonly text: string; readonly receipt: Receipt }> {
    const wanted = receiptName(name);
    await waitFor(`the receipt of ${name}`, async () => {
      const { exitCode } = await this.sftp([`get /receipts/${wanted} ${wanted}`]);
      return exitCode === 0;
    });
    const text = await readFile(join(this.folder, wanted), "utf8");
    return { text, receipt: parseReceipt(text) };
  }

  /** One session. The host key is kept at the first, and may never change. */
  async sftp(commands: readonly string[], more: readonly string[] = []): Promise<ProgramResult> {
    const settings = {
      BatchMode: "yes",
      IdentityFile: join(this.folder, "key"),
      IdentitiesOnly: "yes",
      IdentityAgent: "none",
      StrictHostKeyChecking: "accept-new",
      UserKnownHostsFile: join(this.folder, "known_hosts"),
      GlobalKnownHostsFile: "/dev/null",
      ConnectTimeout: "20",
    };
    const options = Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
    const args = ["-F", "none", ...more, ...options, "-P", "2222", "-b", "-", `${user}@127.0.0.1`];
    const input = `${commands.join("\n")}\n`;
    return await this.#runBeside("sftp", args, { cwd: this.folder, input, timeoutMs: 120_000 });
  }

  async end(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
