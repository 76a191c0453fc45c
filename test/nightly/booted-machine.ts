/**
 * A Debian with a systemd of its own, booted in a container with a network of its own. A machine whose first process is no
 * systemd can boot it as well.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { copyFile, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ProgramResult, runProgram } from "../support/run-program.ts";
import { waitFor } from "../support/wait-for.ts";
import type { RunBeside } from "./package-host.ts";
import { mustRun } from "./transcript.ts";

/** What a server has; `curl` and the client of OpenSSH are for those who look at it. */
const packages = "systemd,systemd-sysv,dbus,openssh-client,curl";
/** Installed by pages, on machines without a way to the network. */
const fetched = ["prometheus", "postgresql", "haproxy", "nfs-common", "nfs-kernel-server"];
const aptConfiguration = 'APT::Get::Assume-Yes "true";\nAPT::Install-Recommends "false";\n';
/** Nothing of the environment of the one who runs this gets in. */
const environment = {
  PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: "/root",
  LC_ALL: "C.UTF-8",
  TERM: "dumb",
  DEBIAN_FRONTEND: "noninteractive",
};
const bootMs = 180_000;

/** Makes the Debian that machines are copied from, once: it takes two minutes, and the packages come from the network. */
async function prepareBase(folder: string): Promise<void> {
  if (!existsSync(folder)) {
    console.log(`debootstrap makes ${folder} ...`);
    await rm(`${folder}.new`, { recursive: true, force: true });
    await mustRun("debootstrap", ["--variant=minbase", `--include=${packages}`, "bookworm", `${folder}.new`]);
    await rename(`${folder}.new`, folder);
  }
  const names = await readdir(join(folder, "var/cache/apt/archives"));
  if (fetched.every((one) => names.some((name) => name.startsWith(`${one}_`)))) return;
  await writeFile(join(folder, "etc/apt/apt.conf.d/99walk"), aptConfiguration);
  await copyFile("/etc/resolv.conf", join(folder, "etc/resolv.conf"));
  const fetch = `apt-get update -q && apt-get install -q --download-only ${fetched.join(" ")}`;
  await mustRun("chroot", [folder, "sh", "-c", fetch]);
}

/** The first process of the container that nspawn runs: the one that is the first of its own. */
async function initBelow(pid: number): Promise<number | undefined> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
  for (const child of children
    .split(" ")
    .filter((one) => one !== "")
    .map(Number)) {
    const status = await readFile(`/proc/${child}/status`, "utf8").catch(() => "");
    if (/^NSpid:\t\d+\t1$/m.test(status)) return child;
    const found = await initBelow(child);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Where a machine is among others. */
export interface MachinePlace {
  readonly name: string;
  /** The bridge that connects them. */
  readonly bridge: string;
  /** Its own, with the length of the network: `10.0.0.11/24`. */
  readonly addresses: readonly string[];
  /** Folders of this machine that it has, by their path in it: what a network file system does between machines. */
  readonly folders?: Readonly<Record<string, string>>;
}

async function giveAddresses(root: string, addresses: readonly string[]): Promise<void> {
  const lines = ["[Match]", "Name=host0", "[Network]", "LinkLocalAddressing=no"];
  const text = [...lines, ...addresses.map((address) => `Address=${address}`)].join("\n");
  await writeFile(join(root, "etc/systemd/network/10-host0.network"), `${text}\n`);
  await mustRun("systemctl", [`--root=${root}`, "enable", "systemd-networkd.service"]);
}

export class BootedMachine {
  /** Its root folder, as this machine sees it. */
  readonly root: string;
  readonly #place: MachinePlace | undefined;
  #nspawn: ChildProcess | undefined;
  #init = 0;

  private constructor(root: string, place: MachinePlace | undefined) {
    this.root = root;
    this.#place = place;
  }

  /** A copy of the Debian in `base`, which is made when it is not there; not booted yet. Alone unless it has a place. */
  static async make(base: string, place?: MachinePlace): Promise<BootedMachine> {
    await prepareBase(base);
    const root = join(await mkdtemp(join(tmpdir(), "dropgate-booted-")), "root");
    await mustRun("cp", ["-a", "--reflink=auto", base, root]);
    if (place !== undefined) await giveAddresses(root, place.addresses);
    return new BootedMachine(root, place);
  }

  async boot(): Promise<void> {
    const { name = "", bridge, folders = {} } = this.#place ?? {};
    const options = ["--quiet", "--boot", "--register=no", "--keep-unit"];
    const network = bridge === undefined ? "--private-network" : `--network-bridge=${bridge}`;
    const shared = Object.entries(folders).map(([inside, outside]) => `--bind=${outside}:${inside}`);
    const called = ["-M", `dropgate-${process.pid}${name}`, "-D", this.root];
    const place = [network, ...shared, "--link-journal=no", "--console=read-only", ...called];
    this.#nspawn = spawn("systemd-nspawn", [...options, ...place], { stdio: "ignore" });
    await this.#untilBooted(0);
  }

  /** From within, as an administrator does it. Everything that ran has ended, and what is enabled runs anew. */
  async reboot(): Promise<ProgramResult> {
    const result = await this.run("systemctl reboot");
    const former = this.#init;
    await waitFor("the end of the machine", () => !existsSync(`/proc/${former}`), bootMs);
    // Without a manager of machines nspawn leaves it to its caller to start it again.
    const ended = this.#nspawn;
    await waitFor("the reboot", async () => {
      if (ended?.exitCode === 133) return true;
      return (await initBelow(ended?.pid ?? 0)) !== undefined;
    });
    if (ended?.exitCode === 133) await this.boot();
    else await this.#untilBooted(former);
    return result;
  }

  /** A command of a shell in it, as root in its home. */
  async run(command: string, timeoutMs = 600_000): Promise<ProgramResult> {
    const spaces = ["-m", "-p", "-n", "-i", "-u", "-C"];
    const args = ["-t", String(this.#init), ...spaces, "--", "sh", "-c", `cd /root && { ${command}\n}`];
    return await runProgram("nsenter", args, { env: environment, timeoutMs });
  }

  /** A program of this machine on the network of that one. */
  readonly runBeside: RunBeside = async (program, args, options) => {
    const net = `--net=/proc/${this.#init}/ns/net`;
    return await runProgram("nsenter", [net, "--", program, ...args], options);
  };

  /** Powers it off, and removes it. */
  async end(): Promise<void> {
    if (this.#nspawn?.exitCode === null) {
      const exit = once(this.#nspawn, "exit");
      this.#nspawn.kill("SIGTERM");
      await exit;
    }
    await rm(join(this.root, ".."), { recursive: true, force: true });
  }

  async #untilBooted(former: number): Promise<void> {
    this.#init = await waitFor(
      "the first process of the machine",
      async () => {
        if (this.#nspawn?.exitCode !== null) throw new Error(`nspawn ended with ${this.#nspawn?.exitCode}`);
        const found = await initBelow(this.#nspawn.pid ?? 0);
        return found === former ? undefined : found;
      },
      bootMs,
    );
    await waitFor(
      "the machine to be booted",
      async () => /^(?:running|degraded)$/m.test((await this.run("systemctl is-system-running")).output),
      bootMs,
    );
    // nspawn gives its devices the modes of this machine's, whatever somebody has made of them.
    await this.run("chmod 666 /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty");
  }
}
