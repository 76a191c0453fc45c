/**
 * docs/cluster.md, followed word for word from bare machines: three Debians that boot in containers with a network between
 * them, two nodes and one that is database, storage and balancer. While the page kills a node, a host sends. At the end a node
 * starts while the database is away.
 *
 *   node test/nightly/cluster-booted.ts [--base FOLDER]        as root; needs debootstrap and systemd-container
 *
 * What is not as on the page: containers share the kernel of this machine, which need not have NFS, so the folder of the
 * storage is there in both nodes without `exportfs` and `mount`; the configuration goes from one node to the other
 * without an SSH server, and so does the certificate of the database. Prints what is typed and what comes of it, and ends
 * with 1 when something is not as expected.
 */
import { copyFile, cp, mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { outputFolder, projectVersion } from "../../tools/package/source.ts";
import { isInstalled, type ProgramResult } from "../support/run-program.ts";
import { followPage, isAsShown } from "../support/server-pages.ts";
import { BootedMachine } from "./booted-machine.ts";
import { buildAs } from "./built-packages.ts";
import { mustRun, requireRootAnd, Transcript } from "./transcript.ts";

const page = "docs/cluster.md";
const { values } = parseArgs({ options: { base: { type: "string" } } });
const base = values.base === undefined ? join(outputFolder, "debian-bookworm") : resolve(values.base);
const bridge = `dg${process.pid}`.slice(0, 15);

type Place = "gate-1" | "gate-2" | "the database" | "the storage" | "the balancer";

/** What the kernel of a container does not do. */
const ofNfs = /^(?:exportfs |mount )|>> \/etc\/(?:exports|fstab)$/;

/** Each comes from an address of its own, by which the balancer decides on the node. */
const senderAddresses = ["10.0.0.21", "10.0.0.22", "10.0.0.23", "10.0.0.24", "10.0.0.25", "10.0.0.26"];

/**
 * Each sender puts one file after the other, each until it is answered, and notes its name then. Every other one takes seconds
 * for each, on either node: whenever a node is killed, an upload is cut.
 */
const sending = `
send() {
  n=$1
  while [ ! -e sent-enough ]; do
    n=$((n + 1))
    name=\${n}_20261105_080000.xml
    sed "s/1001/$n/g" /usr/share/doc/dropgate/config/samples/1001_20261105_080000.xml > "$name"
    [ "$3" = quick ] || printf "%200000s" "" >> "$name"
    until echo "put $name /inbound/" |
      timeout 20 sftp -l $([ "$3" = quick ] && echo 100000 || echo 500) -F acme.conf -o BindAddress=$2 -o ConnectTimeout=5 -b - dropgate > /dev/null 2>&1; do
      echo again >> sent-again
      sleep 0.2
    done
    echo "$name" >> answered
  done
}
${senderAddresses.map((address, index) => `send ${5_000 + 500 * index} ${address} ${index % 2 === 0 ? "slow" : "quick"} &`).join("\n")}
wait`;

class ClusterWalk {
  readonly #machines: Readonly<Record<Place, BootedMachine>>;
  readonly #transcript = new Transcript();
  #places: readonly Place[] = [];
  #sending: Promise<ProgramResult> | undefined;

  constructor(machines: Readonly<Record<Place, BootedMachine>>) {
    this.#machines = machines;
  }

  end(): number {
    return this.#transcript.end();
  }

  async follow(): Promise<void> {
    this.#transcript.step(page);
    await followPage(
      page,
      {
        run: (command) => this.#type(command),
        configure: () => Promise.reject(new Error("the page has its settings in a command")),
      },
      {
        followed: ({ command, result }) => {
          if (result === undefined) console.log(`(not on a container: ${command})`);
          // What follows would only fail for it too.
          else if (result.exitCode !== 0) throw new Error(`${page}: a command fails: ${command}`);
        },
        showed: (outcome) => {
          this.#transcript.expect("the output is what the page shows", isAsShown(outcome));
        },
      },
    );
  }

  /** What was answered beside the death of a node is there once. */
  async judge(): Promise<void> {
    this.#transcript.step("what the host has sent while a node was killed");
    await this.#run("gate-1", "touch sent-enough");
    await this.#sending;
    const answered = (await this.#read("gate-1", "cat answered")).split("\n");
    const again = await this.#read("gate-1", "wc -l < sent-again || echo 0");
    const rows = `select lower(name) || ' ' || count(*) filter (where state = 'applied') || ' ' || count(*) filter
      (where state not in ('applied', 'duplicate')) from files where name ~ '^[5-7]' group by lower(name)`;
    await this.#run("gate-1", "sleep 15");
    const told = await this.#read(
      "the database",
      `runuser -u postgres -- psql dropgate -Atc "${rows.replaceAll("\n", " ")}"`,
    );
    const applied = new Set(told.split("\n"));
    const wrong = answered.filter((name) => !applied.has(`${name} 1 0`));
    const counts = `${answered.length} answered, ${again.trim()} sent again`;
    this.#transcript.expect("files were sent beside it", answered.length > 20, counts);
    this.#transcript.expect("each that was answered is applied once", wrong.length === 0, wrong.join(", "));
    this.#transcript.expect(
      "the host had to send some again",
      Number(again) > 0,
      "the node that was killed had its connections",
    );
    const proof = await this.#run("gate-2", "dropgate ledger verify");
    this.#transcript.expect("the ledger is right", proof.exitCode === 0, proof.output);
  }

  /** As after a failure of power from which the database comes back last. */
  async outlastDatabase(): Promise<void> {
    this.#transcript.step("a node starts while the database is away");
    await this.#run("the database", "systemctl stop postgresql@15-main");
    await this.#run("gate-1", "systemctl --no-block restart dropgate");
    // In as much time, more starts that fail would be the last that systemd tries.
    await this.#run("gate-1", "sleep 75");
    const state = await this.#read("gate-1", "systemctl show -p ActiveState,NRestarts,StatusText dropgate");
    const waiting = ["ActiveState=activating", "NRestarts=0", "StatusText=waits for the database"];
    const isWaiting = waiting.every((line) => state.split("\n").includes(line));
    this.#transcript.expect("its one start waits", isWaiting, state);
    await this.#run("the database", "systemctl start postgresql@15-main");
    const active = "timeout 60 sh -c 'until systemctl is-active -q dropgate; do sleep 1; done'";
    const { exitCode, output } = await this.#run("gate-1", active);
    this.#transcript.expect("it goes on by itself when the database is back", exitCode === 0, output);
  }

  async #type(command: string): Promise<ProgramResult | undefined> {
    const where = /^# on (.+)$/.exec(command)?.[1];
    if (where !== undefined) {
      this.#places = where.split(" and ") as Place[];
      return { exitCode: 0, stdout: "", output: "" };
    }
    if (ofNfs.test(command)) return undefined;
    if (command.startsWith("scp ")) return await this.#copyCertificate(command);
    if (command.startsWith("tar ")) return await this.#copyConfiguration();
    if (command === "apt install haproxy") await this.#bringBalancerFile();
    if (command.startsWith("systemctl kill ")) await this.#beginSending();
    const results = await Promise.all(this.#places.map((place) => this.#run(place, asTyped(command))));
    return results.find(({ exitCode }) => exitCode !== 0) ?? results.at(-1);
  }

  async #run(place: Place, command: string): Promise<ProgramResult> {
    const result = await this.#machines[place].run(command);
    this.#transcript.ran(`${place}: ${command}`, result);
    return result;
  }

  async #read(place: Place, command: string): Promise<string> {
    return (await this.#run(place, command)).stdout.trim();
  }

  async #copyCertificate(command: string): Promise<ProgramResult> {
    const [, from = "", to = ""] = /^scp root@\S+:(\S+) (\S+)$/.exec(command) ?? [];
    const rootOf = (place: Place) => this.#machines[place].root;
    await copyFile(join(rootOf("the database"), from), join(rootOf("gate-1"), to));
    return { exitCode: 0, stdout: "", output: "" };
  }

  async #copyConfiguration(): Promise<ProgramResult> {
    const folderOf = (place: Place) => join(this.#machines[place].root, "etc/dropgate");
    await mustRun("cp", ["-a", folderOf("gate-1"), join(folderOf("gate-2"), "..")]);
    return { exitCode: 0, stdout: "", output: "" };
  }

  async #bringBalancerFile(): Promise<void> {
    const file = "usr/share/doc/dropgate/deploy/haproxy/haproxy.cfg";
    const to = join(this.#machines["the balancer"].root, "root/haproxy.cfg");
    await copyFile(join(this.#machines["gate-1"].root, file), to);
  }

  /** Some seconds before the node is killed. */
  async #beginSending(): Promise<void> {
    this.#sending = this.#machines["gate-1"].run(sending);
    await this.#run("gate-1", "sleep 5");
  }
}

/** The one command that asks is answered: a while after it has asked, as it throws away what was typed before. */
function asTyped(command: string): string {
  if (!command.includes("--pwprompt")) return command;
  const typing = "{ sleep 3; echo PASSWORD; sleep 3; echo PASSWORD; sleep 3; }";
  return `${typing} | script -qec '${command}' /dev/null`;
}

async function main(): Promise<number> {
  requireRootAnd({ debootstrap: "debootstrap", "systemd-nspawn": "systemd-container" }, isInstalled);
  const { path } = await buildAs(projectVersion());
  await mustRun("ip", ["link", "add", bridge, "type", "bridge"]);
  await mustRun("ip", ["link", "set", bridge, "up"]);
  const storage = join(outputFolder, `storage-${process.pid}`);
  await mkdir(storage, { recursive: true });
  const made: BootedMachine[] = [];
  const make = async (name: string, addresses: readonly string[], inside: string) => {
    const machine = await BootedMachine.make(base, {
      name,
      bridge,
      addresses,
      folders: { [inside]: storage },
    });
    made.push(machine);
    await machine.boot();
    return machine;
  };
  try {
    // It connects from the first one: the nodes take PROXY headers from the balancer's.
    const one = await make("one", ["10.0.0.4/24", "10.0.0.3/24", "10.0.0.2/24"], "/srv/dropgate");
    const gates = {
      "gate-1": await make(
        "gate-1",
        ["10.0.0.11", ...senderAddresses].map((address) => `${address}/24`),
        "/var/lib/dropgate",
      ),
      "gate-2": await make("gate-2", ["10.0.0.12/24"], "/var/lib/dropgate"),
    };
    for (const { root } of Object.values(gates)) await cp(path, join(root, "root/dropgate_0.3.0_amd64.deb"));
    const walk = new ClusterWalk({
      ...gates,
      ...{ "the database": one, "the storage": one, "the balancer": one },
    });
    await walk.follow();
    await walk.judge();
    await walk.outlastDatabase();
    return walk.end();
  } finally {
    for (const machine of made) await machine.end();
    await mustRun("ip", ["link", "del", bridge]);
    await mustRun("rm", ["-r", storage]);
  }
}

process.exitCode = await main();
