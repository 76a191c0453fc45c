/**
 * The container image, unpacked and run as a container runtime does it: its root is read-only but for the volume and
 * /tmp, its user has a number alone, dropgate is the first process, and the network is its own.
 *
 *   node test/nightly/package-image.ts                          as root
 *
 * Prints what is run and what comes of it, and ends with 1 when something is not as expected.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { outputFolder, projectFolder } from "../../tools/package/source.ts";
import { isInstalled, type ProgramResult, runProgram } from "../support/run-program.ts";
import { waitFor } from "../support/wait-for.ts";
import { company, PackageHost, type RunBeside, user } from "./package-host.ts";
import { mustRun, requireRootAnd, Transcript } from "./transcript.ts";

interface Descriptor {
  readonly digest: string;
}

interface ImageConfig {
  readonly config: {
    readonly User: string;
    readonly Env: readonly string[];
    readonly Entrypoint: readonly string[];
    readonly Cmd: readonly string[];
    readonly Volumes: Readonly<Record<string, object>>;
    readonly WorkingDir: string;
  };
}

async function buildImage(out: string): Promise<string> {
  const script = join(projectFolder, "tools/package/image/build-image.ts");
  const printed = await mustRun(process.execPath, [script, "--out", out]);
  return printed.trim().split("\n").at(-1) ?? "";
}

/** The layout's files by their names; the layers are unpacked one over the other. */
async function unpack(image: string, folder: string): Promise<ImageConfig> {
  await mustRun("tar", ["-xf", image, "-C", folder]);
  const blob = async ({ digest }: Descriptor) => {
    const path = join(folder, "blobs", digest.replace(":", "/"));
    const sum = createHash("sha256")
      .update(await readFile(path))
      .digest("hex");
    if (digest !== `sha256:${sum}`) throw new Error(`${path} has the sum ${sum}`);
    return path;
  };
  const json = async <T>(path: string) => JSON.parse(await readFile(path, "utf8")) as T;
  const index = await json<{ manifests: [Descriptor] }>(join(folder, "index.json"));
  const manifest = await json<{ config: Descriptor; layers: Descriptor[] }>(await blob(index.manifests[0]));
  const root = join(folder, "root");
  await mkdir(root, { mode: 0o755 });
  for (const layer of manifest.layers)
    await mustRun("tar", ["-xzpf", await blob(layer), "--numeric-owner", "-C", root]);
  return await json<ImageConfig>(await blob(manifest.config));
}

/** What a runtime puts into a container besides the image: devices, /proc, volumes, and no right to write elsewhere. */
function containerScript(place: Container, command: readonly string[]): string {
  const { root, volumes, image } = place;
  const { User, Env, Entrypoint, Volumes } = image.config;
  const devices = ["null c 1 3", "zero c 1 5", "random c 1 8", "urandom c 1 9"];
  const made = devices.map((device) => `mknod -m 666 ${device}`);
  const mounts = Object.keys(Volumes).map((path) => `mount --bind '${volumes}${path}' '${root}${path}'`);
  const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(" ");
  return `set -e
ip link set lo up
mkdir -p '${root}/proc' '${root}/dev'
mount --bind '${root}' '${root}'
cd '${root}'
mount -t proc proc proc
mount -t tmpfs tmpfs tmp
mount -t tmpfs tmpfs dev
(cd dev; ${made.join("; ")})
${mounts.join("\n")}
mount -o remount,bind,ro .
exec env -i ${quoted(Env)} /usr/sbin/chroot --userspec=${User} . ${quoted([...Entrypoint, ...command])}`;
}

interface Container {
  readonly root: string;
  readonly volumes: string;
  readonly image: ImageConfig;
}

const spaces = ["--mount", "--net", "--pid", "--fork", "--kill-child", "--propagation", "private"];

async function runToEnd(place: Container, command: readonly string[]): Promise<ProgramResult> {
  return await runProgram("unshare", [...spaces, "sh", "-c", containerScript(place, command)]);
}

/** A container that serves. */
class ServingContainer {
  readonly #place: Container;
  readonly #process: ChildProcess;
  #pid = 0;
  log = "";

  private constructor(place: Container) {
    this.#place = place;
    const script = containerScript(place, place.image.config.Cmd);
    this.#process = spawn("unshare", [...spaces, "sh", "-c", script], { stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.#process.stdout, this.#process.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.log += text;
      });
  }

  static async start(place: Container): Promise<ServingContainer> {
    const started = new ServingContainer(place);
    const { pid = 0 } = started.#process;
    await waitFor("the daemon to be ready", () => {
      if (started.#process.exitCode !== null) throw new Error(`the container ended: ${started.log}`);
      return started.log.includes('"msg":"ready"');
    });
    started.#pid = Number(await readFile(`/proc/${pid}/task/${pid}/children`, "utf8"));
    return started;
  }

  /** A client beside it, on its network. */
  readonly runBeside: RunBeside = async (program, args, options) =>
    await runProgram("nsenter", [`--net=/proc/${this.#pid}/ns/net`, "--", program, ...args], options);

  /** A command of dropgate in the running container. */
  async exec(...command: readonly string[]): Promise<ProgramResult> {
    const { User, Env, Entrypoint } = this.#place.image.config;
    const [uid = "", gid = ""] = User.split(":");
    const into = ["-t", String(this.#pid), "-m", "-n", "-p", "-r", "--wd", "-S", uid, "-G", gid];
    const env = Object.fromEntries(Env.map((one) => one.split("=") as [string, string]));
    return await runProgram("/usr/bin/nsenter", [...into, "--", ...Entrypoint, ...command], { env });
  }

  /** As a runtime does it: a signal to the first process, and its exit code. */
  async stop(): Promise<number | null> {
    const exit = once(this.#process, "exit");
    process.kill(this.#pid, "SIGTERM");
    const [code] = (await exit) as [number | null];
    return code;
  }
}

async function walk(folder: string, transcript: Transcript): Promise<void> {
  transcript.step("made twice, and unpacked");
  const [image, again] = [await buildImage(join(folder, "one")), await buildImage(join(folder, "two"))];
  const isSame = (await readFile(image)).equals(await readFile(again));
  transcript.expect("it is the same bytes both times", isSame, `${(await readFile(image)).length} bytes`);
  const layout = join(folder, "layout");
  await mkdir(layout);
  const place = {
    root: join(layout, "root"),
    volumes: join(folder, "volumes"),
    image: await unpack(image, layout),
  };
  console.log(JSON.stringify(place.image.config, null, 2));
  // A new volume takes over what the image has there, with owner and mode.
  for (const path of Object.keys(place.image.config.Volumes)) {
    await mkdir(join(place.volumes, path, ".."), { recursive: true });
    await mustRun("cp", ["-a", `${place.root}${path}`, `${place.volumes}${path}`]);
  }
  await useContainer(place, transcript);
}

/** A host beside the container, and an administrator within. */
async function exchange(place: Container, serving: ServingContainer, transcript: Transcript): Promise<void> {
  const host = await PackageHost.make(serving.runBeside);
  try {
    await writeFile(join(place.volumes, "var/lib/dropgate/key.pub"), await host.publicKey(), { mode: 0o644 });
    const added = await serving.exec("user", "add-key", user, "--key", "/var/lib/dropgate/key.pub");
    transcript.ran(`dropgate user add-key ${user} --key /var/lib/dropgate/key.pub`, added);
    const { name, result } = await host.put();
    transcript.expect(`${name} is answered`, result.exitCode === 0, result.output.trim());
    const { text, receipt } = await host.receipt(name);
    console.log(text);
    transcript.expect("its receipt says that it is applied", receipt.status === 10);
    for (const command of [["check"], ["ledger", "verify"], ["version"]]) {
      const done = await serving.exec(...command);
      transcript.ran(`dropgate ${command.join(" ")}`, done);
      transcript.expect(`dropgate ${command.join(" ")} finds nothing wrong`, done.exitCode === 0);
    }
    const second = await runToEnd(place, place.image.config.Cmd);
    transcript.ran("dropgate serve, in a second container on the volume", second);
    transcript.expect("a second container refuses to start", second.exitCode === 1);
  } finally {
    await host.end();
  }
}

async function useContainer(place: Container, transcript: Transcript): Promise<void> {
  transcript.step("init, serve, a file over SFTP and its receipt");
  const account = ["--company", company, "--user", user];
  const paths = ["--config", "/etc/dropgate/dropgate.yaml", "--dir", "/var/lib/dropgate"];
  const init = await runToEnd(place, ["init", ...paths, ...account]);
  transcript.ran(`dropgate init ${[...paths, ...account].join(" ")}`, init);
  transcript.expect("init makes the state in the volume", init.exitCode === 0);
  const serving = await ServingContainer.start(place);
  await exchange(place, serving, transcript).finally(async () => {
    transcript.expect("SIGTERM ends the first process with 0", (await serving.stop()) === 0);
  });
  const errors = serving.log.split("\n").filter((line) => /"level":"?(?:error|fatal|[56]0)/.test(line));
  transcript.expect("it has logged no error", errors.length === 0, errors.join("\n"));
}

requireRootAnd({ unshare: "util-linux", ip: "iproute2", sftp: "openssh-client", dpkg: "dpkg" }, isInstalled);
const transcript = new Transcript();
await mkdir(outputFolder, { recursive: true });
const folder = await mkdtemp(join(tmpdir(), "dropgate-image-"));
try {
  await walk(folder, transcript);
} finally {
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = transcript.end();
