/**
 * The Debian package on this machine: built, installed by dpkg, used, upgraded, removed and purged, over its root and
 * without changing it. What a running systemd and apt add is in `test/nightly/package-booted.ts`.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeDeb } from "../../tools/package/build-package.ts";
import { shippedPackages } from "../../tools/package/locked-packages.ts";
import { projectFolder, sourceTime } from "../../tools/package/source.ts";
import { company, PackageHost, user } from "../nightly/package-host.ts";
import { ChangedRoot, whyNoChangedRoot } from "../support/changed-root.ts";
import { waitFor } from "../support/wait-for.ts";

const reason = whyNoChangedRoot();
const [former, newer] = ["0.0.1", "0.0.2"] as const;
const config = "/etc/dropgate/dropgate.yaml";
const state = "/var/lib/dropgate";

let root: ChangedRoot;
let host: PackageHost;
let daemon: ChildProcess | undefined;
const packages = new Map<string, string>();

/** Not packed, with the packages of this checkout and without a list of parts: what takes time and changes nothing here. */
function build(version: string): string {
  const architecture = process.arch === "arm64" ? "arm64" : "amd64";
  const lock = readFileSync(join(projectFolder, "package-lock.json"), "utf8");
  const modules = join(projectFolder, "node_modules");
  const source = { version, architecture, modules, packages: shippedPackages(lock, architecture) } as const;
  return writeDeb({
    source,
    sbom: "{}",
    seconds: sourceTime(process.env),
    root: join(root.shared, "tree"),
    out: root.shared,
    compression: ["-Znone"],
  });
}

const install = (version: string) => root.run(`dpkg -i ${packages.get(version)}`);

async function mustRun(command: string): Promise<string> {
  const { exitCode, output } = await root.run(command);
  expect(exitCode, `${command}\n${output}`).toBe(0);
  return output;
}

/** As the unit does it: checked, and run as the user of the package. */
async function serve(): Promise<void> {
  await mustRun(`runuser -u dropgate -- dropgate check --config ${config}`);
  const child = root.start("runuser", "-u", "dropgate", "--", "dropgate", "serve", "--config", config);
  daemon = child;
  const lines: string[] = [];
  if (child.stdout !== null) createInterface(child.stdout).on("line", (line) => lines.push(line));
  await waitFor("the daemon to be ready", () => {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${lines.join("\n")}`);
    return lines.some((line) => line.includes('"msg":"ready"'));
  });
}

async function stop(): Promise<void> {
  const exit = daemon === undefined ? undefined : once(daemon, "exit");
  await mustRun(`kill -TERM $(cat ${state}/dropgate.pid)`);
  expect((await exit)?.[0]).toBe(0);
}

async function expectApplied(): Promise<void> {
  const { name, result } = await host.put();
  expect(result.exitCode, result.output).toBe(0);
  expect((await host.receipt(name)).receipt).toMatchObject({ status: 10 });
}

describe.skipIf(reason !== undefined)(
  `the package, installed here${reason === undefined ? "" : ` (${reason})`}`,
  () => {
    beforeAll(async () => {
      root = await ChangedRoot.make();
      for (const version of [former, newer]) packages.set(version, basename(build(version)));
      host = await PackageHost.make(root.runBeside);
      root.write("key.pub", await host.publicKey());
    });
    afterAll(async () => {
      await host?.end();
      await root?.end();
    });

    test("is installed, and names the one next command", async () => {
      const { exitCode, output } = await install(former);
      expect(exitCode, output).toBe(0);
      expect(output).toMatch(/dropgate init --config \S+ --dir/);
      expect(await mustRun("dropgate version")).toMatch(`dropgate ${former} (`);
      expect(await mustRun(`stat -c '%U:%G %a' ${config} ${state}`)).toBe(
        "root:dropgate 640\ndropgate:dropgate 750\n",
      );
    });

    test("is initialised, runs as its user, and answers a file over SFTP with a receipt", async () => {
      await mustRun(`dropgate init --config ${config} --dir ${state} --company ${company} --user ${user}`);
      await mustRun(`dropgate user add-key ${user} --key key.pub`);
      expect(await mustRun(`find ${state} ! -user dropgate`)).toBe("");
      await serve();
      await expectApplied();
    });

    test("an upgrade whose check fails changes nothing, and is completed when the fault is solved", async () => {
      await mustRun(`cp -p ${config} good.yaml && echo 'nonsense: 1' >> ${config}`);
      const failed = await install(newer);
      expect(failed.exitCode, failed.output).not.toBe(0);
      expect(failed.output).toMatch(/nonsense: unknown setting[\s\S]*dpkg --configure dropgate/);
      expect(await mustRun("dropgate version")).toMatch(`dropgate ${former} (`);
      await expectApplied();
      await mustRun(`cat good.yaml > ${config} && dpkg --configure dropgate`);
      expect(await mustRun("dropgate version")).toMatch(`dropgate ${newer} (`);
    });

    test("a daemon of the version before goes on with its own files, and the newer one takes over", async () => {
      await expectApplied();
      const running = await mustRun(`readlink /proc/$(cat ${state}/dropgate.pid)/exe`);
      expect(running).toContain(`/usr/lib/dropgate/releases/${former}.`);
      await stop();
      await serve();
      await expectApplied();
      expect(await mustRun("dropgate ledger verify")).toMatch(/^DEMO +4 +4 +0 +0 +0 +0$/m);
    });

    test("a downgrade is refused in words", async () => {
      const refused = await install(former);
      expect(refused.exitCode, refused.output).not.toBe(0);
      expect(refused.output).toMatch(/is older than[\s\S]*restore the backup/);
      expect(await mustRun("dropgate version")).toMatch(`dropgate ${newer} (`);
      await expectApplied();
      await stop();
    });

    test("removed it keeps configuration and state, purged the state alone, and nothing when that is asked for", async () => {
      await mustRun("dpkg -r dropgate");
      expect(await mustRun(`ls ${config} ${state}/dropgate.db`)).toContain("dropgate.db");
      expect((await root.run("ls /usr/lib/dropgate /usr/bin/dropgate")).exitCode).not.toBe(0);
      expect(await mustRun("dpkg -P dropgate")).toContain("state in /var/lib/dropgate was kept");
      expect((await root.run("ls /etc/dropgate")).exitCode).not.toBe(0);
      await install(newer);
      expect(await mustRun("dropgate ledger verify")).toMatch(/^DEMO +5 +5 /m);
      await mustRun("touch /etc/dropgate/purge-state && dpkg -P dropgate");
      const left = await root.run(`ls -d /etc/dropgate ${state} /usr/lib/dropgate`);
      expect(left.output.match(/cannot access/g)).toHaveLength(3);
    });
  },
);
