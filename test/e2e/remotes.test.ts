/** Remotes with the real daemon: over kill -9 at each step of a file's way, with reloads, and as `check --remote` sees them. */
import { readdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SftpSettings } from "../../src/remote/server-settings.ts";
import { company, oneParser, type Settings, Site } from "../support/daemon.ts";
import { giveFolder, openSftpRemote, putFile, type RemoteSite, stopText } from "../support/remote-site.ts";
import { isInstalled } from "../support/run-program.ts";
import { sampled } from "../support/sampled.ts";
import { patienceMs, waitFor } from "../support/wait-for.ts";
import { ledgerOf } from "./crash-check.ts";
import { killedExitCode } from "./crash-host.ts";
import { remoteSteps } from "./crash-plan.ts";

const filesEach = 3;

let remote: RemoteSite & { readonly server: SftpSettings };
let site: Site;
let keptBox: string;

function settingsOf(directory: string, after: string, more: Settings = {}): Settings {
  const { host, port, user, hostKeys } = remote.server;
  return {
    ...{ type: "sftp", host, port, user, hostKeys, privateKey: `file:${join(site.folder, "remote-key")}` },
    ...{ directory, after, everyMs: 1_000, settleMs: 0, ...more },
  };
}

async function useRemotes(remotes: Settings): Promise<void> {
  await site.reconfigure({ inbound: { ...oneParser, settleMs: 100 }, companies: { [company]: { remotes } } });
}

/** The port of a server that takes connections and never says a word. */
async function portOf(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  return typeof address === "object" ? (address?.port ?? 0) : 0;
}

const metrics = async () => await (await fetch(`${site.http}/metrics`)).text();

/** Whether both remotes have ended a round two seconds after this call, so that they have begun one after it. */
function roundsOfEach(): () => Promise<boolean> {
  const after = Date.now() / 1000 + 2;
  return async () => {
    const ends = [
      ...(await metrics()).matchAll(/^dropgate_remote_last_success_timestamp_seconds\{.*\} (\d+)$/gm),
    ];
    return ends.length === 2 && ends.every(([, at]) => Number(at) > after);
  };
}

beforeAll(async () => {
  if (!isInstalled("sshd")) return;
  remote = await openSftpRemote();
  keptBox = giveFolder(join(remote.box, "kept"));
  site = await Site.make();
  writeFileSync(join(site.folder, "remote-key"), remote.server.privateKey ?? "", { mode: 0o600 });
});
afterAll(async () => {
  await site?.end();
  await remote?.end();
});

describe.skipIf(!isInstalled("sshd"))("remotes of the daemon", () => {
  test(
    "each file is taken once, over a death at each step, whether it is removed or left",
    async () => {
      await useRemotes({
        gone: settingsOf(remote.directory, "delete"),
        kept: settingsOf(join(remote.directory, "kept"), "leave"),
      });
      const names: string[] = [];
      const missed: string[] = [];
      const deaths = sampled(remoteSteps, 3);
      for (const [round, step] of deaths.entries()) {
        for (const box of [remote.box, keptBox]) {
          for (let at = 0; at < filesEach; at += 1) {
            const stop = `${box === keptBox ? "k" : "g"}${round}-${at}`;
            names.push(`${stop}_20261105_080000.xml`);
            putFile(join(box, `${stop}_20261105_080000.xml`), stopText(stop));
          }
        }
        const env = { DROPGATE_KILL_POINT: step };
        const run = await site.start({ env }).catch(() => site.daemon);
        const late = new Promise<number>((resolve) => setTimeout(resolve, patienceMs, -1).unref());
        if ((await Promise.race([run.exit, late])) !== killedExitCode) missed.push(step);
        if (site.isRunning) await site.kill();
      }
      await site.start();
      const areAllIn = () => {
        const files = ledgerOf(site);
        const isDecided = files.every(({ state }) => state !== "waiting");
        const boxes = readdirSync(remote.box).filter((name) => name.endsWith(".xml"));
        return isDecided && files.length >= names.length && boxes.length === 0;
      };
      await waitFor("all files to be taken", areAllIn);
      await waitFor("two more rounds of each, in which nothing may come again", roundsOfEach());
      const files = ledgerOf(site);
      expect(files.map(({ name }) => name).sort()).toEqual(names.sort());
      expect(new Set(files.map(({ state }) => state))).toEqual(new Set(["applied"]));
      expect(readdirSync(keptBox)).toHaveLength(deaths.length * filesEach);
      expect(missed).toEqual([]);
      expect(readdirSync(site.path("inbound", ".fetching"))).toEqual([]);
      expect((await site.cli("ledger", "verify")).exitCode).toBe(0);
    },
    6 * patienceMs,
  );

  test("a reload starts, changes and stops remotes, and metrics tell of them", async () => {
    const reload = async (remotes: Settings, times: number) => {
      await useRemotes(remotes);
      process.kill(site.daemon.pid, "SIGHUP");
      const reloaded = () => site.daemon.log.filter(({ msg }) => msg === "configuration reloaded").length;
      await waitFor("the reload", () => reloaded() === times);
    };
    await reload({}, 1);
    putFile(join(remote.box, "r_20261105_080000.xml"), stopText("r"));
    expect(await metrics()).not.toContain("dropgate_remote_files_total");
    await reload({ gone: settingsOf(remote.directory, "delete") }, 2);
    await waitFor("the file to be taken", () => ledgerOf(site).some(({ name }) => name.startsWith("r_")));
    const text = await metrics();
    expect(text).toContain('dropgate_remote_files_total{company="ACME",remote="gone"} 1');
    expect(text).toContain('dropgate_remote_failing{company="ACME",remote="gone"} 0');
  });

  test("check --remote says what is wrong with each, in words that tell what to do", async () => {
    const silent = createServer((socket) => socket.on("error", () => undefined).unref());
    await useRemotes({
      fine: settingsOf(remote.directory, "delete"),
      unpinned: settingsOf(join(remote.directory, "kept"), "leave", { hostKeys: [] }),
      nowhere: settingsOf(`${remote.directory}/none`, "leave"),
      unmoved: settingsOf(remote.done, "move", { moveTo: `${remote.done}/none` }),
      closed: settingsOf(remote.directory, "leave", { port: 1 }),
      silent: settingsOf(remote.directory, "leave", { port: await portOf(silent), timeoutMs: 1_000 }),
      other: settingsOf(remote.directory, "leave", { port: Number(new URL(site.http).port) }),
    });
    const begunAt = Date.now();
    const { stdout, exitCode } = await site.cli("check", "--remote", "--json");
    expect(Date.now() - begunAt).toBeLessThan(60_000);
    silent.close();
    const findings = JSON.parse(stdout) as readonly { status: string; what: string; remedy?: string }[];
    const of = (name: string) => findings.find(({ what }) => what.startsWith(`the remote ${name} of`));
    expect(exitCode).toBe(2);
    expect(of("fine")).toMatchObject({ status: "ok" });
    expect(of("unpinned")?.what).toContain(remote.server.hostKeys[0]);
    expect(of("nowhere")?.what).toMatch(/missingFolder.*none/);
    expect(of("unmoved")?.what).toMatch(/missingFolder.*done\/none/);
    expect(of("closed")?.what).toMatch(/unreachable.*nothing listens/);
    expect(of("silent")).toMatchObject({
      what: expect.stringMatching(/timeout.*1000 ms/),
      remedy: expect.stringMatching(/host and port.*firewall/),
    });
    expect(of("other")?.remedy).toMatch(/host and port are those of such a server/);
    for (const { status, remedy } of findings)
      if (status === "problem") expect(remedy).not.toBe("see the message");
    const quiet = await site.cli("check", "--json");
    expect(quiet.stdout).not.toContain("the remote fine");
  });

  test("remote list says how each stands, and remote retry ends a pause at once", async () => {
    if (site.isRunning) await site.stop();
    const later = join(remote.directory, "later");
    const { everyMs: _, ...settings } = settingsOf(later, "leave");
    await useRemotes({ partner: { ...settings, schedule: "0 0 1 1 *" } });
    const list = async () => {
      const [one] = await site.json<readonly { condition: string; fault: string | null; failures: number }[]>(
        "remote",
        "list",
      );
      return one;
    };
    expect(await list()).toMatchObject({ remote: "partner", condition: "new" });
    const asked = await site.cli("remote", "retry", "partner");
    expect(asked.output).toContain("its next start does it");
    await site.start();
    await waitFor("a round that fails", async () => (await list())?.condition === "failing");
    expect(await list()).toMatchObject({ fault: "missingFolder", pausedUntil: expect.any(String) });
    expect((await site.cli("remote", "list")).stdout).toContain(
      "`dropgate remote retry partner` tries it at once.",
    );
    const failing = await site.cli("remote", "retry", "partner");
    expect([failing.exitCode, failing.output]).toEqual([1, expect.stringContaining("cannot be polled: ")]);
    giveFolder(join(remote.box, "later"));
    // The second result is the same as the first, and is there at once all the same.
    for (const args of [["--company", company], []]) {
      const { stdout } = await site.cli("remote", "retry", "partner", ...args);
      expect(stdout).toContain("begins within a second");
      expect(stdout).toContain(`The remote partner of ${company} was polled without a fault`);
    }
    expect(await list()).toMatchObject({ condition: "fine" });
    const unknown = await site.cli("remote", "retry", "patner");
    expect([unknown.exitCode, unknown.output]).toEqual([2, expect.stringContaining("there is partner")]);
    await site.stop();
  });
});
