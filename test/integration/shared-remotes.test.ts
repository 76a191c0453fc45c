/** Remotes of a company that goes from one node to another: polled by the one that has it, each file once. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { RemoteEndpoint } from "../../src/endpoints/remote/remote-endpoint.ts";
import { createRemoteStates } from "../../src/inbound/remotes/remote-memory.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { listenFree } from "../support/listen-free.ts";
import { remoteForEachTest } from "../support/remote-for-each-test.ts";
import type { RemoteChanges, RemoteRig } from "../support/remote-rig.ts";
import { openSftpRemote, putFile, type RemoteSite, stopText } from "../support/remote-site.ts";
import { isInstalled } from "../support/run-program.ts";
import { waitFor } from "../support/wait-for.ts";

const never = new AbortController().signal;
let site: RemoteSite;
let rig: RemoteRig;
/** The node that has the company. */
let owner: string;

/** As it runs on a node: on one tree and one database with the others. */
async function startNode(name: string, changes: RemoteChanges = {}): Promise<RemoteEndpoint> {
  const endpoint = new RemoteEndpoint({
    ...{ inbox: rig.pipeline, memory: rig.memory, states: createRemoteStates(rig), clock: systemClock },
    ...{ log: createLogger({ level: "silent" }), intake: { whyNoRoom: async () => undefined } },
    ...{ limits: () => rig.limits, random: () => 0.5, refreshMs: 1_000_000, heedMs: 1_000_000 },
    remotes: async () => [rig.remote(site.server, { directory: site.directory, ...changes })],
    isSole: false,
    isOurs: () => owner === name,
  });
  await endpoint.start(never);
  onTestFinished(() => endpoint.stop(AbortSignal.timeout(10_000)));
  return endpoint;
}

async function take(endpoint: RemoteEndpoint, name: string): Promise<void> {
  owner = name;
  await endpoint.begin(rig.companyId);
  await endpoint.reload();
}

const put = (name: string) => putFile(join(site.box, name), stopText(name.slice(0, 1)));

async function poll(...endpoints: readonly RemoteEndpoint[]): Promise<void> {
  await Promise.all(endpoints.map((endpoint) => endpoint.pollNow()));
  await rig.decided();
}

describe.skipIf(!isInstalled("sshd"))("a remote of several nodes", () => {
  remoteForEachTest(openSftpRemote, (itsSite, itsRig) => {
    [site, rig] = [itsSite, itsRig];
  });

  test("is polled by the one that has the company, and by the other after it has gone there", async () => {
    const [one, two] = [await startNode("one"), await startNode("two")];
    await take(one, "one");
    put("a_20261105_080000.xml");
    await poll(one, two);
    expect([one.statistics().length, two.statistics().length]).toEqual([1, 0]);
    expect(await rig.names()).toEqual(["a_20261105_080000.xml"]);
    await one.end(rig.companyId);
    await take(two, "two");
    put("b_20261105_080000.xml");
    await poll(one, two);
    expect([one.statistics().length, two.statistics().length]).toEqual([0, 1]);
    expect(await rig.names()).toEqual(["a_20261105_080000.xml", "b_20261105_080000.xml"]);
    expect(readdirSync(site.box)).toEqual([]);
  });

  test("has the downloads of a former node removed by the one that has the company, and by no other", async () => {
    const folder = join(rig.inbound, ".fetching");
    const left = join(folder, "0123456789ab-0123456789abcdef");
    mkdirSync(folder, { recursive: true });
    writeFileSync(left, "half a fi");
    const [one, two] = [await startNode("one"), await startNode("two")];
    owner = "nobody";
    await poll(one, two);
    expect(existsSync(left)).toBe(true);
    await take(two, "two");
    await poll(one, two);
    expect(existsSync(left)).toBe(false);
    // What it fetches from now on is its own, also after a further round.
    put("a_20261105_080000.xml");
    await poll(two);
    expect(await rig.names()).toEqual(["a_20261105_080000.xml"]);
  });

  test("keeps what a node has not put in its place when it loses the company, for the other", async () => {
    const [one, two] = [await startNode("one"), await startNode("two")];
    await take(one, "one");
    await poll(one);
    owner = "two";
    put("a_20261105_080000.xml");
    // It knows nothing of that yet.
    await poll(one);
    expect(await rig.names()).toEqual([]);
    expect(readdirSync(site.box)).toEqual(["a_20261105_080000.xml"]);
    await one.end(rig.companyId);
    await take(two, "two");
    await poll(two);
    await waitFor("the file to be taken", async () => (await rig.names()).length === 1);
    expect(readdirSync(site.box)).toEqual([]);
    expect(rig.leftovers()).toEqual([]);
  });

  test("that takes a connection and says nothing keeps no company: it is given back at once", async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => void sockets.push(socket.resume()));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      silent.close();
    });
    // It would be waited for ten minutes.
    const patient = { connectMs: 600_000, silenceMs: 600_000 };
    const server = { ...site.server, ...patient, port: await listenFree(silent) };
    const one = await startNode("one", { server, timeoutMs: 600_000 });
    await take(one, "one");
    await waitFor("the remote to be asked", () => sockets.length > 0);
    const begun = performance.now();
    await one.end(rig.companyId);
    expect(performance.now() - begun).toBeLessThan(10_000);
    expect(one.statistics()).toEqual([]);
    // No server is left waiting with a connection that nobody serves.
    await waitFor("the connection to end", () => sockets.every(({ destroyed }) => destroyed));
  });
});
