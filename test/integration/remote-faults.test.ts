/** Remotes that are not there, hang, break, or are somebody else: told once, harmful to nobody else, and taken up again. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import ssh2 from "ssh2";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { readCronSchedule } from "../../src/domain/time/cron-schedule.ts";
import type { PolledRemote } from "../../src/endpoints/remote/remote-deps.ts";
import type { SftpSettings } from "../../src/remote/server-settings.ts";
import { RemoteRig, type RemoteChanges } from "../support/remote-rig.ts";
import {
  emptyFolder,
  openFtpsRemote,
  openSftpRemote,
  putFile,
  type RemoteSite,
  stopText,
} from "../support/remote-site.ts";
import { isInstalled } from "../support/run-program.ts";
import { freePort } from "../support/server-process.ts";
import { startBlackHole, startLink, type TcpLink } from "../support/tcp-link.ts";
import { waitFor } from "../support/wait-for.ts";

const patient = { connectMs: 60_000, silenceMs: 60_000, keepMs: 2_000 } as const;
/** While a server says nothing. */
const hurried = { connectMs: 1_500, silenceMs: 800, keepMs: 2_000 } as const;
const name = "a_20261105_080000.xml";
/** Large enough to be cut off amid. */
const large = `${stopText("a")}${" ".repeat(8_000_000)}`;

let rig: RemoteRig;
beforeEach(async () => {
  rig = await RemoteRig.open();
});
afterEach(() => rig.close());

const polledTwice = async () => {
  await rig.poll();
  await rig.poll();
};

describe.skipIf(!isInstalled("sshd"))("a remote over SFTP", () => {
  let site: RemoteSite & { readonly server: SftpSettings };
  beforeAll(async () => {
    site = await openSftpRemote();
  });
  afterAll(() => site.end());
  afterEach(() => emptyFolder(site.box));

  const remote = (changes: RemoteChanges = {}): PolledRemote =>
    rig.remote({ ...site.server, times: patient }, { directory: site.directory, ...changes });
  const put = (content = stopText("a")) => putFile(join(site.box, name), content);

  test("that nobody answers for is told once, and its files are taken when it is there", async () => {
    put();
    await rig.use(remote({ server: { port: await freePort() } }));
    await polledTwice();
    expect(rig.warnings()).toEqual([expect.stringMatching(/cannot be polled.*nothing listens there/)]);
    expect(rig.endpoint.statistics()).toMatchObject([{ isFailing: true, filesTaken: 0 }]);
    await rig.use(remote());
    await rig.poll();
    expect(await rig.names()).toEqual([name]);
  });

  test("that never says a word holds up no other, and ends in time", async () => {
    const hole = await startBlackHole();
    onTestFinished(() => hole.end());
    put();
    const silentWith = (times: SftpSettings["times"]) =>
      rig.remote(
        { ...site.server, times },
        { name: "silent", directory: site.directory, server: { port: hole.port }, timeoutMs: 300_000 },
      );
    rig.remotes = [silentWith({ ...patient, connectMs: 300_000, silenceMs: 300_000 }), remote()];
    await rig.endpoint.reload();
    await waitFor("the other one's file", async () => (await rig.names()).length === 1);
    expect(rig.warnings()).toEqual([]);
    rig.remotes = [silentWith(hurried), remote()];
    await rig.endpoint.reload();
    await waitFor("the silent one to be told", () => rig.warnings().length === 1);
    expect(rig.warnings()).toEqual([expect.stringMatching(/not signed in within|stopped responding/)]);
  });

  test("with wrong credentials is told once, with its fault, and is signed in to with growing pauses", async () => {
    const { private: otherKey } = ssh2.utils.generateKeyPairSync("ed25519");
    put();
    await rig.use(remote({ server: { privateKey: otherKey } }));
    await polledTwice();
    const told = rig.lines.filter(({ level }) => level === "warn");
    expect(told).toMatchObject([{ fault: "credentials", remote: "partner", company: "ACME" }]);
    expect(await rig.names()).toEqual([]);
  });

  test("with a host key that is not the pinned one, or none pinned, is not signed in to", async () => {
    put();
    const other = `SHA256:${"A".repeat(43)}`;
    await rig.use(remote({ server: { hostKeys: [other] } }));
    await rig.use(remote({ server: { hostKeys: [] } }));
    expect(rig.lines.filter(({ level }) => level === "warn").map(({ fault }) => fault)).toEqual([
      "identity",
      "configuration",
    ]);
    expect(rig.warnings()[1]).toContain(site.server.hostKeys[0]);
    expect(await rig.names()).toEqual([]);
  });

  async function linked(): Promise<TcpLink> {
    const link = await startLink(site.server.port);
    onTestFinished(() => link.end());
    return link;
  }

  /** What a download of the file takes of the client's bytes before it is amid. */
  const amid = 6_000;

  test.each(["cutAfter", "freezeAfter"] as const)(
    "whose link breaks or freezes amid a file (%s) has it taken once when it is back, and nothing is left over",
    async (weather) => {
      const link = await linked();
      const linkedWith = (times: SftpSettings["times"]) => remote({ server: { port: link.port, times } });
      await rig.use(linkedWith(hurried));
      put(large);
      link[weather](amid);
      await rig.poll();
      expect(await rig.names()).toEqual([]);
      expect(rig.leftovers()).toEqual([]);
      expect(rig.endpoint.statistics()).toMatchObject([{ isFailing: true }]);
      link.thaw();
      await rig.use(linkedWith(patient));
      await rig.poll();
      expect((await rig.ledger()).map(({ state, size }) => [state, size])).toEqual([
        ["applied", large.length],
      ]);
      expect(readdirSync(site.box)).toEqual([]);
    },
  );

  test("whose link breaks at any time has each file once in the end", async () => {
    const link = await linked();
    await rig.use(remote({ server: { port: link.port } }));
    for (let at = 0; at < 20; at += 1)
      putFile(join(site.box, `s${at}_20261105_080000.xml`), stopText(`s${at}`));
    for (let bytes = 500; bytes < 9_000; bytes += 1_100) {
      link.cutAfter(bytes);
      await rig.poll();
      link.thaw();
    }
    await polledTwice();
    const names = await rig.names();
    expect(names).toHaveLength(20);
    expect(new Set(names).size).toBe(20);
    expect(readdirSync(site.box)).toEqual([]);
    expect(rig.leftovers()).toEqual([]);
  });

  test("that is stopped amid a file ends at once, and the file is taken by the next start", async () => {
    const link = await linked();
    await rig.use(remote({ server: { port: link.port }, timeoutMs: 60_000 }));
    put(large);
    link.slowDown(200);
    const polled = rig.endpoint.pollNow();
    await waitFor("the download to begin", () => rig.leftovers().length === 1);
    const begun = performance.now();
    await rig.use();
    await polled;
    expect(performance.now() - begun).toBeLessThan(30_000);
    expect(rig.leftovers()).toEqual([]);
    await rig.use(remote());
    await rig.poll();
    expect(await rig.names()).toEqual([name]);
  });

  test("is changed, stopped and started by a reload", async () => {
    await rig.use(remote({ after: "leave" }));
    await rig.use();
    put();
    await rig.poll();
    expect(await rig.names()).toEqual([]);
    expect(rig.endpoint.statistics()).toEqual([]);
    await rig.use(remote({ after: "leave" }));
    await rig.poll();
    expect(await rig.names()).toEqual([name]);
    expect(existsSync(join(site.box, name))).toBe(true);
  });

  test("that cannot be configured is told so", async () => {
    await rig.use({ ...remote(), fetch: { fault: "the file ca.pem (ca) cannot be read" } });
    await polledTwice();
    expect(rig.warnings()).toEqual([expect.stringMatching(/ca\.pem/)]);
  });

  test("that fails is not tried again at its interval, but after a pause", async () => {
    const often = (polled: PolledRemote) => ({
      ...polled,
      schedule: { kind: "every", everyMs: 10 } as const,
    });
    const away = often(remote({ name: "away", server: { port: await freePort() } }));
    rig.remotes = [away, often(remote({ settleMs: 0 }))];
    await rig.endpoint.reload();
    // Ten rounds of the other one at least.
    for (let at = 0; at < 10; at += 1) {
      putFile(join(site.box, `s${at}_20261105_080000.xml`), stopText(`s${at}`));
      await waitFor("the file", async () => (await rig.names()).length > at);
    }
    const failures = new Map(rig.endpoint.statistics().map((one) => [one.remote, one.failures]));
    expect(failures.get("partner")).toBe(0);
    // On a machine that takes minutes for the rounds of the other one some pauses are over.
    expect(failures.get("away")).toBeGreaterThan(0);
    expect(failures.get("away")).toBeLessThan(5);
  });

  test("with a schedule is polled when it is due by the clock of its zone", async () => {
    const reading = readCronSchedule("30 8 * * *");
    if (reading.kind !== "read") throw new Error(reading.fault);
    const schedule = { kind: "cron", cron: reading.schedule, zone: "Europe/Berlin" } as const;
    const due = Date.parse("2026-11-05T07:30:00Z");
    rig.now = () => due - 20;
    put();
    rig.remotes = [{ ...remote(), schedule }];
    await rig.endpoint.reload();
    await rig.endpoint.reload();
    expect(rig.endpoint.statistics()).toMatchObject([{ lastSuccessAt: undefined }]);
    rig.now = () => due + 1;
    await waitFor("the file", async () => (await rig.names()).length === 1);
    await waitFor("the end of the round", () => rig.endpoint.statistics()[0]?.lastSuccessAt === due + 1);
  });

  test("has nothing taken while there is no room, which is told with the reason", async () => {
    rig.noRoom = "5 files wait (inbound.maxWaiting)";
    await rig.use(remote());
    put();
    await rig.poll();
    expect(await rig.names()).toEqual([]);
    expect(rig.warnings()).toEqual([expect.stringMatching(/inbound\.maxWaiting/)]);
    rig.noRoom = undefined;
    await rig.poll();
    expect(await rig.names()).toEqual([name]);
  });
});

describe.skipIf(!isInstalled("vsftpd") || process.getuid?.() !== 0)("a remote over FTPS", () => {
  let site: RemoteSite;
  beforeAll(async () => {
    site = await openFtpsRemote();
  });
  afterAll(() => site.end());

  test.each([
    ["credentials", { password: "another one" }],
    ["identity", { ca: undefined }],
    ["identity", { certificateFingerprint: "0".repeat(64) }],
    ["unreachable", { port: 1 }],
  ] as const)("that has a fault (%s) is told once: %j", async (fault, server) => {
    await rig.use(rig.remote({ ...site.server, times: patient }, { directory: site.directory, server }));
    await polledTwice();
    expect(rig.lines.filter(({ level }) => level === "warn")).toMatchObject([{ fault }]);
  });
});
