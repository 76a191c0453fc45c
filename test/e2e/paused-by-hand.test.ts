/**
 * A target and a remote that somebody pauses by hand, with the real daemon, an SFTP server and a web server: nothing goes out
 * or in while that lasts, over restarts, reloads and kill -9; then all of it does, in its order and once.
 */
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SftpSettings } from "../../src/remote/server-settings.ts";
import { company, oneParser, type Settings, Site } from "../support/daemon.ts";
import { familiesIn } from "../support/exposition.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { giveFolder, openSftpRemote, putFile, type RemoteSite, stopText } from "../support/remote-site.ts";
import { runInProcess } from "../support/run-in-process.ts";
import { isInstalled } from "../support/run-program.ts";
import { startLink, type TcpLink } from "../support/tcp-link.ts";
import { waitFor } from "../support/wait-for.ts";
import { ledgerOf } from "./crash-check.ts";

let remote: RemoteSite & { readonly server: SftpSettings };
/** The way to the server of the paused remote: it counts the connections. */
let link: TcpLink;
let receiver: Receiver;
let site: Site;
let otherBox: string;

function remoteOf(port: number, directory: string): Settings {
  const { host, user, hostKeys } = remote.server;
  return {
    ...{ type: "sftp", host, port, user, hostKeys, privateKey: `file:${join(site.folder, "remote-key")}` },
    ...{ directory, after: "delete", everyMs: 1_000, settleMs: 0 },
  };
}

beforeAll(async () => {
  if (!isInstalled("sshd")) return;
  remote = await openSftpRemote();
  link = await startLink(remote.server.port);
  receiver = await startReceiver();
  site = await Site.make();
  otherBox = giveFolder(join(remote.box, "other"));
  writeFileSync(join(site.folder, "remote-key"), remote.server.privateKey ?? "", { mode: 0o600 });
  const host = { type: "https", url: receiver.url, allowPlain: true };
  const nightly = { schedule: "0 0 1 1 *", form: "document" };
  await site.configure({
    inbound: { ...oneParser, settleMs: 100 },
    companies: {
      [company]: {
        outbound: {
          targets: { outbound: { type: "folder" }, host },
          exports: {
            "to-host": { ...nightly, target: "host" },
            "to-folder": { ...nightly, target: "outbound" },
          },
        },
        remotes: {
          partner: remoteOf(link.port, remote.directory),
          other: remoteOf(remote.server.port, join(remote.directory, "other")),
        },
      },
    },
  });
});
afterAll(async () => {
  await site?.end();
  await receiver?.end();
  await link?.end();
  await remote?.end();
});

interface DeliveryView {
  readonly guid: string;
  readonly target: string;
  readonly state: string;
  readonly name: string;
  readonly attempts: number;
}

const command = (...args: readonly string[]) => runInProcess(site, ...args);
const deliveries = async () => JSON.parse(await command("deliveries", "--json")) as readonly DeliveryView[];
const ofTarget = async (name: string) => (await deliveries()).filter(({ target }) => target === name);

let others = 0;
/** The daemon has polled and sent since this call: to the other target, and from the other remote. */
async function passTime(): Promise<void> {
  others += 1;
  putFile(join(otherBox, `o${others}_20261105_080000.xml`), stopText(`o${others}`));
  await command("export", "--company", company, "--name", "to-folder");
  await waitFor("a file of the other remote", () =>
    ledgerOf(site).some(({ name, state }) => name.startsWith(`o${others}_`) && state === "applied"),
  );
  await waitFor("a delivery to the other target", async () =>
    (await ofTarget("outbound")).every(({ state }) => state === "delivered"),
  );
}

async function gauge(name: string, labels: Readonly<Record<string, string>>): Promise<number | undefined> {
  const families = familiesIn(await (await fetch(`${site.http}/metrics`)).text());
  const series = families.find((family) => family.name === name)?.series ?? [];
  const fits = (of: Readonly<Record<string, string>>) =>
    Object.entries({ company, ...labels }).every(([label, value]) => of[label] === value);
  return series.find((one) => fits(one.labels))?.value;
}

const pausedBy = "paused by \\S+ since 20\\S+Z";

describe.skipIf(!isInstalled("sshd"))("what is paused by hand", () => {
  test("is not touched, while all else goes on, and each command says so", async () => {
    const paused = await command("remote", "pause", "partner", "--reason", "their server moves");
    expect(paused).toContain(
      `The remote partner of ${company} is paused: nothing is fetched from it until \`dropgate remote resume partner\`.`,
    );
    expect(paused).toContain("The daemon is not running: its next start does it.");
    for (const time of ["080000", "090000"])
      putFile(join(remote.box, `p1_20261105_${time}.xml`), stopText("p1", time));
    await site.start();
    const told = await command("target", "pause", "host", "--reason", "their system moves");
    expect(told).toContain("what is for it waits until `dropgate target resume host`");
    expect(await command("target", "pause", "host", "--reason", "once more")).toMatch(
      /was paused before, by \S+ at \S+: their system moves/,
    );
    for (let count = 0; count < 3; count += 1)
      await command("export", "--company", company, "--name", "to-host");
    await passTime();
    expect(await command("target", "list")).toMatch(
      new RegExp(`host +paused +3 .*${pausedBy}: their system moves`),
    );
    expect(await command("remote", "list")).toMatch(new RegExp(`partner .*paused .*${pausedBy}`));
    expect(await command("deliveries", "--target", "host")).toMatch(/target paused by \S+/);
    const first = (await ofTarget("host")).at(-1);
    expect(await command("explain", first?.name ?? "")).toMatch(
      new RegExp(
        `because the target host is ${pausedBy} \\(\`dropgate target resume host\` lets it go on\\)`,
      ),
    );
    expect(await command("explain", first?.name ?? "")).toMatch(
      new RegExp(
        `nothing comes from the remote partner of company ${company}, which is ${pausedBy} \\(their server moves\\)`,
      ),
    );
    const retry = await site.cli("remote", "retry", "partner");
    expect([retry.exitCode === 0, retry.output]).toEqual([
      false,
      expect.stringMatching(new RegExp(`is ${pausedBy}: \`dropgate remote resume partner\` comes first`)),
    ]);
    const mistyped = await site.cli("remote", "pause", "partnr", "--reason", "a slip");
    expect([mistyped.exitCode === 0, mistyped.output]).toEqual([
      false,
      expect.stringContaining("there is no remote partnr; there is partner, other"),
    ]);
    const { output } = await site.cli("check");
    for (const what of [/the target host of ACME/, /the remote partner of ACME/])
      expect(output).toMatch(new RegExp(`${what.source} is ${pausedBy} \\(their \\w+ moves\\)`));
    expect(output).toContain("`dropgate remote resume partner` when it may go on");
    expect(await gauge("dropgate_target_paused_by_hand", { target: "host" })).toBe(1);
    expect(await gauge("dropgate_target_paused", { target: "host" })).toBe(0);
    expect(await gauge("dropgate_target_paused_by_hand", { target: "outbound" })).toBe(0);
    expect(await gauge("dropgate_remote_paused_by_hand", { remote: "partner" })).toBe(1);
    expect(await gauge("dropgate_remote_paused_by_hand", { remote: "other" })).toBe(0);
    expect([link.connections(), receiver.posts.length]).toEqual([0, 0]);
  });

  test("stays so over a reload, a retry, kill -9 and a start", async () => {
    site.daemon.process.kill("SIGHUP");
    await site.daemon.waitForLog(({ msg }) => msg === "configuration reloaded");
    await command("delivery", "retry", "--all", "--target", "host", "--yes");
    await passTime();
    await site.kill();
    await site.start();
    await passTime();
    await site.stop();
    await site.start();
    await passTime();
    expect([link.connections(), receiver.posts.length]).toEqual([0, 0]);
    const standing = (await ofTarget("host")).map(({ state, attempts }) => `${state} ${attempts}`);
    expect(standing).toEqual(["behind 0", "behind 0", "waiting 0"]);
    expect(await gauge("dropgate_target_paused_by_hand", { target: "host" })).toBe(1);
  });

  test("goes on when it is resumed, in its order and once, also when the daemon dies at that moment", async () => {
    await command("target", "resume", "host");
    const resumed = await command("remote", "resume", "partner");
    expect(resumed).toMatch(/The remote partner of ACME is resumed \(paused by \S+ since \S+\)/);
    await site.kill();
    await site.start();
    await waitFor("all to be sent", async () =>
      (await ofTarget("host")).every(({ state }) => state === "delivered"),
    );
    // The document and its manifest have the id of the delivery, with a number behind it.
    const ids = receiver.posts.map(({ headers }) =>
      String(headers["x-dropgate-delivery"]).replace(/-\d$/, ""),
    );
    const sent = [...new Set(ids)];
    const made = (await ofTarget("host")).toReversed();
    expect(sent).toEqual(made.map(({ guid }) => guid));
    await waitFor("all to be taken", () => readdirSync(remote.box).every((name) => !name.endsWith(".xml")));
    const taken = () => ledgerOf(site).filter(({ name }) => name.startsWith("p1_"));
    // Settled on its server with its entry, and decided about a moment later.
    await waitFor("all to be decided", () => taken().every(({ state }) => state !== "waiting"));
    expect(taken()).toEqual(
      ["080000", "090000"].map((time) => ({ name: `p1_20261105_${time}.xml`, state: "applied" })),
    );
    expect(await command("target", "resume", "host")).toContain(
      `The target host of ${company} is not paused by hand.`,
    );
    expect((await site.cli("check")).output).not.toMatch(/is paused by/);
    expect(await gauge("dropgate_remote_paused_by_hand", { remote: "partner" })).toBe(0);
  });

  test("is resumed within a second by a running daemon, and paused while a file waits, takes it afterwards", async () => {
    await command("remote", "pause", "partner", "--reason", "once more");
    await site.daemon.waitForLog(
      ({ msg, remote: name }) => msg === "the remote is paused by hand" && name === "partner",
    );
    // A round that was under way goes on to its end.
    await passTime();
    const before = link.connections();
    putFile(join(remote.box, "p2_20261105_080000.xml"), stopText("p2"));
    await passTime();
    expect(ledgerOf(site).some(({ name }) => name.startsWith("p2_"))).toBe(false);
    expect(link.connections()).toBe(before);
    await command("remote", "resume", "partner");
    await waitFor("the file to be taken", () =>
      ledgerOf(site).some(({ name, state }) => name.startsWith("p2_") && state === "applied"),
    );
  });
});
