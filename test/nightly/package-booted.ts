/**
 * The package in a real system, as an administrator uses it, on a bare Debian that is booted in a container: first by the
 * pages for administrators, then through its life: the last release installed, initialised, started, sent to; a reboot, a
 * crash, a hang; under traffic an upgrade that fails, the upgrade to the checkout across its migrations, a downgrade that
 * is refused, and one more upgrade; removed and purged.
 *
 *   node test/nightly/package-booted.ts [--base FOLDER]         as root; needs debootstrap and systemd-container
 *
 * `--base` is a Debian that debootstrap made; without it one is made in dist-package/, once, from the network. Prints what
 * is typed and what comes of it, and ends with 1 when something is not as expected. Takes half an hour.
 */
import { copyFile, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { currentSchema } from "../../src/store/database/schema-plan.ts";
import { outputFolder } from "../../tools/package/source.ts";
import { isInstalled, type ProgramResult } from "../support/run-program.ts";
import { waitFor } from "../support/wait-for.ts";
import { BootedMachine } from "./booted-machine.ts";
import { type BuiltPackage, buildAs, buildReleased, newerVersions, released } from "./built-packages.ts";
import { company, PackageHost, user } from "./package-host.ts";
import { followPages } from "./package-pages.ts";
import { Traffic, type TrafficCounts } from "./package-traffic.ts";
import { requireRootAnd, Transcript } from "./transcript.ts";

const { values } = parseArgs({ options: { base: { type: "string" } } });
const base = values.base === undefined ? join(outputFolder, "debian-bookworm") : resolve(values.base);
const config = "/etc/dropgate/dropgate.yaml";
const state = "/var/lib/dropgate";

class Walk {
  readonly #machine: BootedMachine;
  readonly #host: PackageHost;
  readonly #transcript = new Transcript();
  readonly #packages: readonly BuiltPackage[];
  readonly #answered: string[] = [];

  /** Of the release, and of two newer versions. */
  constructor(machine: BootedMachine, host: PackageHost, packages: readonly BuiltPackage[]) {
    this.#machine = machine;
    this.#host = host;
    this.#packages = packages;
  }

  end(): number {
    return this.#transcript.end();
  }

  /** On the bare machine, which is bare again afterwards. */
  async pages(): Promise<void> {
    const named = {
      "dropgate_0.3.0_amd64.deb": this.#fileOf(1),
      "dropgate_0.4.0_amd64.deb": this.#fileOf(2),
    };
    await this.#run("command -v node npm; systemctl is-system-running");
    await followPages(this.#machine, this.#transcript, named);
    this.#expectOutput("the way back leads to the version before", await this.#version(), this.#is(1));
    this.#transcript.step("what the pages have made is removed");
    await this.#run("touch /etc/dropgate/purge-state");
    this.#expect("dropgate is purged", await this.#apt("purge -y dropgate"), /Purging configuration files/);
    const rest =
      "/var/lib/dropgate.old /var/lib/dropgate.newer /etc/systemd/system/dropgate.service.d /srv/backup";
    await this.#run(`rm -r ${rest} && systemctl stop prometheus && systemctl daemon-reload`);
  }

  async install(): Promise<void> {
    this.#transcript.step("install the last release on a bare machine");
    const done = await this.#install(0);
    this.#expect("it installs, and names the one next command", done, /dropgate init --config \S+ --dir/);
    this.#expect("it is enabled", await this.#run("systemctl is-enabled dropgate"), /^enabled$/m);
    const status = await this.#run("systemctl is-active dropgate");
    this.#expectOutput("it is not started before init", status, /^inactive$/m);
    this.#expectOutput("it is the release", await this.#version(), this.#is(0));
  }

  async start(): Promise<void> {
    this.#transcript.step("init, start, a file over SFTP and its receipt");
    await writeFile(join(this.#machine.root, "root/password"), "secret-of-host-1");
    await writeFile(join(this.#machine.root, "root/key.pub"), await this.#host.publicKey());
    const init = `dropgate init --config ${config} --dir ${state} --company ${company} --user ${user}`;
    const started = await this.#run(`${init} --password-file password && systemctl start dropgate`);
    this.#expect("init and start in one line", started, /made company DEMO/);
    this.#expect(
      "the key is added",
      await this.#run(`dropgate user add-key ${user} --key key.pub`),
      /may sign in/,
    );
    const name = await this.#expectUpload();
    console.log((await this.#host.receipt(name)).text);
  }

  async reboot(): Promise<void> {
    this.#transcript.step("reboot");
    this.#transcript.ran("systemctl reboot", await this.#machine.reboot());
    await this.#untilActive("0");
    this.#expect(
      "the service is there after the reboot",
      await this.#run("systemctl is-active dropgate"),
      /^active$/m,
    );
    await this.#expectUpload();
  }

  async kill(): Promise<void> {
    this.#transcript.step("kill -9");
    const pid = await this.#mainPid();
    await this.#run(`kill -9 ${pid}`);
    await this.#untilActive(pid);
    this.#expect(
      "systemd has started it again",
      await this.#run("systemctl is-active dropgate"),
      /^active$/m,
    );
    await this.#expectUpload();
  }

  /** The watchdog of the unit as it is: a minute, and then the time that a process has for its end. */
  async hang(): Promise<void> {
    this.#transcript.step("a process that hangs (SIGSTOP), and the watchdog");
    const pid = await this.#mainPid();
    await this.#run(`kill -STOP ${pid}`);
    await this.#untilActive(pid);
    const journal = await this.#run("journalctl -u dropgate -o cat | grep -i watchdog | tail -n 2");
    this.#expect("the watchdog has ended it", journal, /watchdog timeout/i);
    await this.#expectUpload();
  }

  async upgrade(): Promise<void> {
    const traffic = new Traffic(this.#host);
    await waitFor("the first files of the traffic", () => traffic.counts().answered.length >= 10);
    await this.#failingUpgrade(traffic);
    await this.#mendedUpgrade(traffic);
    await this.#refusedDowngrade(traffic);
    this.#transcript.step("upgrade under traffic");
    const former = await this.#mainPid();
    const before = traffic.counts().answered.length;
    this.#expect("the upgrade installs", await this.#install(2), /Setting up dropgate/);
    this.#transcript.expect("another process runs", (await this.#mainPid()) !== former);
    await this.#expectVersion(2);
    await waitFor("files after the upgrade", () => traffic.counts().answered.length >= before + 20);
    await this.#expectNothingLost(await traffic.stop());
  }

  async #failingUpgrade(traffic: Traffic): Promise<void> {
    this.#transcript.step("an upgrade whose check fails, under traffic");
    const pid = await this.#mainPid();
    await this.#run(`cp -p ${config} good.yaml && echo 'nonsense: 1' >> ${config}`);
    const before = traffic.counts();
    const failed = await this.#install(1);
    this.#transcript.expect("the installation fails", failed.exitCode !== 0);
    this.#expectOutput("it says what is wrong", failed, /nonsense: unknown setting/);
    this.#expectOutput("it says what to do", failed, /dpkg --configure dropgate/);
    this.#transcript.expect("the same process goes on", (await this.#mainPid()) === pid);
    await this.#expectVersion(0);
    this.#expectUnnoticed(before, traffic.counts());
  }

  async #mendedUpgrade(traffic: Traffic): Promise<void> {
    this.#transcript.step("the fault is mended, and the upgrade goes on, under traffic");
    const pid = await this.#mainPid();
    const mended = await this.#run(`cat good.yaml > ${config} && dpkg --configure dropgate`);
    this.#expect("the upgrade is completed", mended, /Setting up dropgate/);
    this.#transcript.expect("another process runs", (await this.#mainPid()) !== pid);
    await this.#expectVersion(1);
    await this.#expectMigrated();
    const before = traffic.counts().answered.length;
    await waitFor("files after the upgrade", () => traffic.counts().answered.length >= before + 5);
  }

  /** From the schema of the release to that of the checkout, with a copy before. */
  async #expectMigrated(): Promise<void> {
    const steps = currentSchema - released.schema;
    const logged = await this.#run('journalctl -u dropgate -o cat | grep -c \'"msg":"database migrated"\'');
    this.#transcript.expect(`${steps} migrations were done`, Number(logged.stdout) === steps);
    const copies = await this.#run(`ls ${state} | grep before`);
    const wanted = steps === 0 ? "" : `dropgate.db.before-${currentSchema}`;
    this.#transcript.expect("the database was copied before", copies.stdout.trim() === wanted);
    const checked = await this.#run("dropgate check");
    this.#expectOutput("the schema is that of the checkout", checked, new RegExp(`schema ${currentSchema},`));
  }

  async #refusedDowngrade(traffic: Traffic): Promise<void> {
    this.#transcript.step("a downgrade, under traffic");
    const pid = await this.#mainPid();
    const before = traffic.counts();
    const refused = await this.#install(0, "--allow-downgrades");
    this.#transcript.expect("it is refused", refused.exitCode !== 0);
    this.#expectOutput("it says why, and what leads back", refused, /is older than[\s\S]*restore the backup/);
    this.#transcript.expect("the same process goes on", (await this.#mainPid()) === pid);
    await this.#expectVersion(1);
    this.#expectUnnoticed(before, traffic.counts());
  }

  #expectUnnoticed(before: TrafficCounts, after: TrafficCounts): void {
    const seen = `${after.answered.length - before.answered.length} files answered meanwhile`;
    const isSame = [...after.failures].join() === [...before.failures].join();
    this.#transcript.expect("no host has noticed", isSame, seen);
  }

  async #expectNothingLost({ answered, failures, unexpected, longestGapMs }: TrafficCounts): Promise<void> {
    const shown = [...failures].map(([kind, count]) => `${count} ${kind}`).join(", ");
    console.log(`${answered.length} files answered; tried again: ${shown === "" ? "none" : shown}`);
    console.log(`the longest time between two answers: ${(longestGapMs / 1000).toFixed(1)} s`);
    this.#transcript.expect(
      "hosts saw no more than a connection",
      unexpected.length === 0,
      unexpected.join("; "),
    );
    this.#answered.push(...answered);
    await this.#expectAllApplied();
  }

  /** Every file that was ever answered is applied, once, and the ledger says so too. */
  async #expectAllApplied(): Promise<void> {
    const list = "dropgate files --state applied --limit 100000 --json";
    const names = await waitFor("all files to be applied", async () => {
      const { stdout } = await this.#machine.run(list);
      const found = (JSON.parse(stdout) as { readonly name: string }[]).map(({ name }) => name);
      return this.#answered.every((name) => found.includes(name)) && found;
    });
    this.#transcript.expect(`all ${this.#answered.length} answered files are applied`, true);
    const twice = names.length - new Set(names).size;
    this.#transcript.expect("none is applied twice", twice === 0, `${names.length} applied`);
    const verified = await this.#run("dropgate ledger verify");
    this.#expect("the ledger is correct", verified, /The ledger is correct/);
    this.#expectOutput(
      "nothing is refused, superseded or waiting",
      verified,
      /^DEMO +\d+ +\d+ +0 +\d+ +0 +0$/m,
    );
  }

  async remove(): Promise<void> {
    this.#transcript.step("remove");
    this.#expect("it is removed", await this.#apt("remove -y dropgate"), /Removing dropgate/);
    const left = await this.#run(`ls /usr/lib/dropgate ${config} ${state}; systemctl is-active dropgate`);
    this.#expectOutput("the service is stopped", left, /^inactive$/m);
    this.#expectOutput("the program is gone", left, /cannot access '\/usr\/lib\/dropgate'/);
    this.#expectOutput(
      "configuration and state are kept",
      left,
      /^\/etc\/dropgate\/dropgate\.yaml[\s\S]*dropgate\.db/m,
    );
    await this.#purge();
  }

  async #purge(): Promise<void> {
    this.#transcript.step("purge, and install again");
    this.#expect(
      "it is purged",
      await this.#apt("purge -y dropgate"),
      /state in \/var\/lib\/dropgate was kept/,
    );
    const left = await this.#run(`ls /etc/dropgate ${state}`);
    this.#expectOutput("the configuration is gone", left, /cannot access '\/etc\/dropgate'/);
    this.#expectOutput("the state is kept", left, /dropgate\.db/);
    await this.#install(2);
    this.#expect("it starts with the state", await this.#run("systemctl start dropgate"), /^$/);
    await this.#expectAllApplied();
    this.#transcript.step("purge with the state, when it is asked for");
    await this.#run("touch /etc/dropgate/purge-state");
    this.#expect("it is purged", await this.#apt("purge -y dropgate"), /Purging configuration files/);
    const gone = await this.#run(
      `ls -d /etc/dropgate ${state} /usr/lib/dropgate; systemctl is-active dropgate`,
    );
    this.#expectOutput("nothing runs", gone, /^inactive$/m);
    this.#expectOutput("nothing is left", gone, /(?:cannot access[^\n]*\n[^/]*){3}/);
  }

  async #run(command: string): Promise<ProgramResult> {
    const result = await this.#machine.run(command);
    this.#transcript.ran(command, result);
    return result;
  }

  async #apt(command: string): Promise<ProgramResult> {
    return await this.#run(`apt-get -q ${command}`);
  }

  async #install(which: 0 | 1 | 2, more = ""): Promise<ProgramResult> {
    return await this.#apt(`install -y ${more} ./${this.#fileOf(which)}`.replaceAll("  ", " "));
  }

  #fileOf(which: 0 | 1 | 2): string {
    return basename(this.#packages[which]?.path ?? "");
  }

  async #version(): Promise<ProgramResult> {
    return await this.#run("dropgate version");
  }

  /** What `dropgate version` begins with. */
  #is(which: 0 | 1 | 2): RegExp {
    return new RegExp(`^dropgate ${this.#packages[which]?.version.replaceAll(".", "\\.")} `);
  }

  /** It has succeeded, and said so. */
  #expect(what: string, { exitCode, output }: ProgramResult, said: RegExp): void {
    this.#transcript.expect(what, exitCode === 0 && said.test(output));
  }

  #expectOutput(what: string, { output }: ProgramResult, said: RegExp): void {
    this.#transcript.expect(what, said.test(output));
  }

  async #expectVersion(which: 0 | 1 | 2): Promise<void> {
    this.#expectOutput(
      `the version is ${this.#packages[which]?.version}`,
      await this.#version(),
      this.#is(which),
    );
  }

  async #expectUpload(): Promise<string> {
    const { name, result } = await this.#host.put();
    this.#transcript.expect(`${name} is answered`, result.exitCode === 0, result.output.trim());
    if (result.exitCode !== 0) return name;
    const { receipt } = await this.#host.receipt(name);
    this.#transcript.expect("its receipt says that it is applied", receipt.status === 10);
    this.#answered.push(name);
    return name;
  }

  async #mainPid(): Promise<string> {
    return (await this.#machine.run("systemctl show -p MainPID --value dropgate")).stdout.trim();
  }

  /** Until another process than the former one is ready. */
  async #untilActive(former: string): Promise<void> {
    await waitFor(
      "the service to be active",
      async () => {
        // Both at once: right after a death the unit is still called active.
        const { stdout } = await this.#machine.run("systemctl show -p ActiveState -p MainPID dropgate");
        const pid = /^MainPID=(\d+)$/m.exec(stdout)?.[1] ?? "0";
        return /^ActiveState=active$/m.test(stdout) && pid !== "0" && pid !== former;
      },
      240_000,
    );
  }
}

requireRootAnd(
  {
    debootstrap: "debootstrap",
    "systemd-nspawn": "systemd-container",
    "dpkg-deb": "dpkg",
    sftp: "openssh-client",
  },
  isInstalled,
);
const [first, second] = newerVersions();
const packages = [await buildReleased(), await buildAs(first), await buildAs(second)];
const machine = await BootedMachine.make(base);
try {
  for (const { path } of packages) await copyFile(path, join(machine.root, "root", basename(path)));
  await machine.boot();
  const host = await PackageHost.make(machine.runBeside);
  const walk = new Walk(machine, host, packages);
  try {
    await walk.pages();
    await walk.install();
    await walk.start();
    await walk.reboot();
    await walk.kill();
    await walk.hang();
    await walk.upgrade();
    await walk.remove();
  } finally {
    await host.end();
  }
  process.exitCode = walk.end();
} finally {
  await machine.end();
}
