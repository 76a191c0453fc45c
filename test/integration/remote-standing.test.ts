/** How remotes stand, for people to see, and rounds that somebody asks for. */
import { chmodSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { SftpSettings } from "../../src/remote/server-settings.ts";
import { askForRemote, isPollAwaited, listRemoteStates } from "../../src/store/ledger/remote-states.ts";
import { pauseByHand, resumeByHand } from "../../src/store/outbound/hand-pauses.ts";
import { remoteForEachTest } from "../support/remote-for-each-test.ts";
import type { RemoteRig } from "../support/remote-rig.ts";
import { giveFolder, openSftpRemote, putFile, type RemoteSite, stopText } from "../support/remote-site.ts";
import { isInstalled } from "../support/run-program.ts";
import { waitFor } from "../support/wait-for.ts";

const name = "a_20261105_080000.xml";

describe.skipIf(!isInstalled("sshd"))("a remote", () => {
  let site: RemoteSite & { readonly server: SftpSettings };
  let rig: RemoteRig;
  remoteForEachTest(openSftpRemote, (itsSite, itsRig) => {
    [site, rig] = [itsSite, itsRig];
  });

  const state = async () => (await listRemoteStates(rig.store.read))[0];
  const ask = (now = Date.now()) =>
    rig.store.write("site", (tx) => askForRemote(tx, { companyId: rig.companyId, remote: "partner", now }));
  const isAnswered = async () => {
    const now = await state();
    return now !== undefined && now.askedAt > 0 && !isPollAwaited(now);
  };
  const inbox = () => join(site.directory, "later");

  test("that cannot be used says why and until when it pauses; when somebody asks, it is polled at once", async () => {
    await rig.use(rig.remote(site.server, { directory: inbox() }));
    const failed = await state();
    expect(failed).toMatchObject({
      remote: "partner",
      fault: "missingFolder",
      succeededAt: null,
      askedAt: 0,
    });
    expect(failed?.failures).toBeGreaterThan(0);
    expect(failed?.pausedUntil).toBeGreaterThan(failed?.polledAt ?? 0);
    giveFolder(join(site.box, "later"));
    putFile(join(site.box, "later", name), stopText("a"));
    await ask();
    await rig.endpoint.heed();
    await waitFor("the file", async () => (await rig.names()).join() === name);
    await waitFor("the round to be noted", async () => (await state())?.fault === null);
    expect(await state()).toMatchObject({ failures: 0, pausedUntil: 0, faultText: null });
    expect((await state())?.succeededAt).toBeGreaterThan(0);
  });

  test("is polled once for each time that somebody asks, whatever the clock, and not for a request that a round has answered", async () => {
    await rig.use(rig.remote(site.server, { directory: inbox() }));
    rmSync(join(site.box, "later"), { recursive: true, force: true });
    const failures = async () => (await state())?.failures ?? 0;
    const before = await failures();
    await ask();
    await rig.endpoint.heed();
    await rig.endpoint.heed();
    await rig.endpoint.pollNow();
    expect(await failures()).toBe(before + 2);
    await rig.endpoint.heed();
    await rig.endpoint.pollNow();
    expect(await failures()).toBe(before + 3);
    await ask(1); // the clock was set back
    await rig.endpoint.heed();
    await rig.endpoint.pollNow();
    expect(await failures()).toBe(before + 5);
  });

  test("is not polled again for an answered request by the poller that comes after a reload", async () => {
    await rig.use(rig.remote(site.server, { directory: inbox() }));
    await ask();
    await rig.endpoint.heed();
    await waitFor("the answer", isAnswered);
    await rig.use(rig.remote(site.server, { directory: inbox(), timeoutMs: 19_000 }));
    expect(await isAnswered()).toBe(true);
    const before = (await state())?.failures ?? 0;
    await rig.endpoint.heed();
    await rig.endpoint.pollNow();
    expect((await state())?.failures).toBe(before + 1);
  });

  test("that somebody has paused is not polled, whoever asks, until it is resumed", async () => {
    const thing = { companyId: rig.companyId, kind: "remote", name: "partner" } as const;
    const pause = { ...thing, pausedAt: Date.now(), pausedBy: "anna", reason: "their server moves" };
    const pauseIt = () => rig.store.write("site", (tx) => pauseByHand(tx, pause));
    await pauseIt();
    putFile(join(site.box, name), stopText("a"));
    await rig.use(rig.remote(site.server, { directory: site.directory }));
    await ask();
    await rig.endpoint.heed();
    await rig.endpoint.pollNow();
    expect(await rig.names()).toEqual([]);
    expect(await state()).toMatchObject({ polledAt: null });
    expect(rig.endpoint.statistics()).toMatchObject([{ isPausedByHand: true }]);
    await rig.store.write("site", (tx) => resumeByHand(tx, thing));
    await rig.endpoint.heed();
    await waitFor("the round that was asked for", isAnswered);
    expect(await rig.names()).toEqual([name]);
    await pauseIt();
    await rig.endpoint.heed();
    putFile(join(site.box, "b_20261105_080000.xml"), stopText("b"));
    await rig.endpoint.pollNow();
    expect(await rig.names()).toEqual([name]);
  });

  test("that fails counts on after a restart, until it succeeds", async () => {
    const missing = rig.remote(site.server, { directory: join(site.directory, "missing") });
    await rig.use(missing);
    await rig.endpoint.pollNow();
    const before = (await state())?.failures ?? 0;
    expect(before).toBeGreaterThan(1);
    await rig.restartEndpoint();
    expect(rig.endpoint.statistics()).toMatchObject([{ isFailing: true }]);
    await rig.endpoint.pollNow();
    expect((await state())?.failures).toBeGreaterThan(before);
    rig.remotes = [rig.remote(site.server, { directory: site.directory })];
    await rig.restartEndpoint();
    await rig.endpoint.pollNow();
    expect(await state()).toMatchObject({ failures: 0, fault: null });
    expect(rig.endpoint.statistics()).toMatchObject([{ isFailing: false }]);
  });

  test("answers a request by the round that began after it, not by one that was under way", async () => {
    const settleMs = 500;
    const path = join(site.box, name);
    await rig.use(rig.remote(site.server, { directory: site.directory, settleMs }));
    putFile(path, stopText("a"));
    chmodSync(path, 0o000);
    const underWay = rig.endpoint.pollNow();
    await ask();
    await rig.endpoint.heed();
    await underWay;
    expect(await isAnswered()).toBe(false);
    // The round under way has had the file refused: it rests, unless the next one ends its rest.
    expect(rig.warnings().join()).toContain("cannot be fetched");
    chmodSync(path, 0o644);
    await waitFor("the answer", isAnswered);
    expect(await rig.names()).toEqual([name]);
  });

  test("has the rests of its files ended by somebody who asks", async () => {
    const path = join(site.box, name);
    putFile(path, stopText("a"));
    chmodSync(path, 0o000);
    await rig.use(rig.remote(site.server, { directory: site.directory }));
    await waitFor("the file to be refused", () =>
      rig.warnings().some((one) => one.includes("cannot be fetched")),
    );
    expect(rig.endpoint.untaken()).toMatchObject([
      {
        company: "ACME",
        remote: "partner",
        more: 0,
        files: [{ name, why: { kind: "failed", attempts: 1 } }],
      },
    ]);
    chmodSync(path, 0o644);
    await rig.poll();
    expect(await rig.names()).toEqual([]);
    await ask();
    await rig.endpoint.heed();
    await waitFor("the file", async () => (await rig.names()).join() === name);
    expect(rig.endpoint.untaken()).toEqual([]);
  });
});
