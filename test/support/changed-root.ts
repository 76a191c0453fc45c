/**
 * This machine once more, without its changes: an overlay over its root, in namespaces of its own, where packages can be
 * installed and removed. Has no systemd that runs, and no network but itself. For root, where the kernel permits it.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isInstalled, type ProgramResult, type RunOptions, runProgram } from "./run-program.ts";
import { waitFor } from "./wait-for.ts";

const namespaces = ["--mount", "--propagation", "private", "--net", "--pid", "--fork", "--kill-child"];

/** `$1` is an empty folder; what is shared lies in `$1/shared`, which is /mnt inside. */
const setup = `set -e
mount -t tmpfs changes "$1/over"
mkdir "$1/over/upper" "$1/over/work" "$1/over/root"
mount -t overlay root -o "lowerdir=/,upperdir=$1/over/upper,workdir=$1/over/work" "$1/over/root"
mount -t proc proc "$1/over/root/proc"
mount -t tmpfs tmp "$1/over/root/tmp"
mount -t tmpfs run "$1/over/root/run"
mount -t tmpfs -o mode=755 dev "$1/over/root/dev"
for one in "null 3" "zero 5" "full 7" "random 8" "urandom 9"; do mknod -m 666 "$1/over/root/dev/\${one% *}" c 1 "\${one#* }"; done
ln -s /proc/self/fd "$1/over/root/dev/fd"
mount --bind "$1/shared" "$1/over/root/mnt"
# dpkg would index the manuals of the whole machine anew.
rm -f "$1/over/root/var/lib/man-db/auto-update"
ip link set lo up
`;

function makePlace(): string {
  const folder = mkdtempSync(join(tmpdir(), "dropgate-root-"));
  for (const name of ["over", "shared"]) mkdirSync(join(folder, name));
  return folder;
}

/** Why it cannot be had here; undefined when it can. */
export function whyNoChangedRoot(): string | undefined {
  if (process.getuid?.() !== 0) return "it has to be root";
  const missing = ["unshare", "nsenter", "ip", "dpkg", "dpkg-deb", "systemd-sysusers"].filter(
    (name) => !isInstalled(name),
  );
  if (missing.length > 0 || !existsSync("/etc/debian_version"))
    return `no Debian, or without ${missing.join(", ")}`;
  const folder = makePlace();
  try {
    const tried = spawnSync("unshare", [...namespaces, "sh", "-c", setup, "sh", folder], {
      encoding: "utf8",
    });
    return tried.status === 0 ? undefined : `the kernel does not permit it: ${tried.stderr}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export class ChangedRoot {
  readonly #folder: string;
  readonly #holder: ChildProcess;
  /** The first process of the namespaces. */
  readonly #pid: number;

  private constructor(folder: string, holder: ChildProcess, pid: number) {
    this.#folder = folder;
    this.#holder = holder;
    this.#pid = pid;
  }

  static async make(): Promise<ChangedRoot> {
    const folder = makePlace();
    const hold = `${setup}touch "$1/shared/ready"\nexec sleep infinity`;
    const holder = spawn("unshare", [...namespaces, "sh", "-c", hold, "sh", folder], { stdio: "ignore" });
    await waitFor("the changed root", () => {
      if (holder.exitCode !== null) throw new Error(`unshare ended with ${holder.exitCode}`);
      return existsSync(join(folder, "shared/ready"));
    });
    const [child = ""] = readFileSync(`/proc/${holder.pid}/task/${holder.pid}/children`, "utf8").split(" ");
    return new ChangedRoot(folder, holder, Number(child));
  }

  /** The folder that is /mnt inside. */
  get shared(): string {
    return join(this.#folder, "shared");
  }

  write(name: string, content: string): void {
    writeFileSync(join(this.shared, name), content);
  }

  /** A command of a shell, as root. */
  async run(command: string): Promise<ProgramResult> {
    return await runProgram(...this.#inside("sh", "-c", `cd /mnt && { ${command}\n}`), {
      env: this.#environment,
    });
  }

  /** A program of this machine on the network of that one. */
  readonly runBeside = async (
    program: string,
    args: readonly string[],
    options: RunOptions,
  ): Promise<ProgramResult> =>
    await runProgram("nsenter", ["-t", String(this.#pid), "-n", "--", program, ...args], options);

  /** A program that goes on; it ends with the namespaces at the latest. */
  start(...command: readonly string[]): ChildProcess {
    const [program, args] = this.#inside(...command);
    return spawn(program, args, { env: this.#environment, stdio: ["ignore", "pipe", "inherit"] });
  }

  async end(): Promise<void> {
    const exit = once(this.#holder, "exit");
    this.#holder.kill("SIGKILL");
    await exit;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  readonly #environment = {
    PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
    HOME: "/root",
    LC_ALL: "C.UTF-8",
    DEBIAN_FRONTEND: "noninteractive",
  };

  #inside(...command: readonly string[]): [program: string, args: string[]] {
    const root = join(this.#folder, "over/root");
    return ["nsenter", ["-t", String(this.#pid), "-m", "-n", "-p", "--", "chroot", root, ...command]];
  }
}
