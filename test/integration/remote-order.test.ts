/** Files of a remote that cannot be fetched yet, and the later files of their stops. */
import { appendFileSync, chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { PolledRemote } from "../../src/endpoints/remote/remote-deps.ts";
import { remoteForEachTest } from "../support/remote-for-each-test.ts";
import { type RemoteChanges, RemoteRig } from "../support/remote-rig.ts";
import {
  openFtpsRemote,
  openSftpRemote,
  putFile,
  type RemoteSite,
  stopText,
} from "../support/remote-site.ts";

const isRoot = process.getuid?.() === 0;
const [first, second, third] = [8, 9, 10].map(
  (hour) => `a_20261105_${String(hour).padStart(2, "0")}0000.xml`,
) as [string, string, string];
const other = "b_20261105_090000.xml";

describe.each([
  ["SFTP", openSftpRemote],
  ["FTPS", openFtpsRemote],
])("a remote with %s", (_kind, open) => {
  let site: RemoteSite;
  let rig: RemoteRig;
  remoteForEachTest<RemoteSite>(open, (itsSite, itsRig) => {
    [site, rig] = [itsSite, itsRig];
  });

  const remote = (changes: RemoteChanges = {}): PolledRemote =>
    rig.remote(site.server, { directory: site.directory, ...changes });
  const put = (name: string) => putFile(join(site.box, name), stopText(name.charAt(0)));
  const applied = async () => (await rig.ledger()).map(({ name, state }) => [name, state]);

  test("is left the later files of a stop as long as the earlier one is written to", async () => {
    await rig.use(remote({ settleMs: 300 }));
    writeFileSync(join(site.box, first), "<Stop>");
    const growing = setInterval(() => appendFileSync(join(site.box, first), " "), 30);
    for (const name of [second, third, other]) put(name);
    await rig.poll();
    clearInterval(growing);
    expect(await rig.names()).toEqual([other]);
    put(first);
    await rig.poll();
    expect(await applied()).toEqual([
      [other, "applied"],
      ...[first, second, third].map((name) => [name, "applied"]),
    ]);
  });

  test.skipIf(!isRoot)(
    "is left the later files of a stop whose earlier one may not be read, until it may, or is given up",
    async () => {
      await rig.use(remote());
      for (const name of [first, second, third, other]) put(name);
      chmodSync(join(site.box, second), 0o600);
      await rig.poll();
      await rig.poll();
      expect((await rig.names()).toSorted()).toEqual([first, other]);
      expect(rig.lines.filter(({ msg }) => /waits for an earlier one/.test(msg))).toHaveLength(1);
      rig.limits = { ...rig.limits, giveUpAfterMs: 0 };
      await rig.poll();
      expect((await rig.names()).toSorted()).toEqual([first, third, other]);
    },
  );
});

test("of a remote with more files than are taken in a round the earliest come first", async () => {
  const site = await openSftpRemote();
  const rig = await RemoteRig.open(4);
  try {
    const names = Array.from(
      { length: 24 },
      (_, hour) => `a_20261105_${String(hour).padStart(2, "0")}0000.xml`,
    );
    for (const name of names.toReversed()) putFile(join(site.box, name), stopText("a"));
    await rig.use(rig.remote(site.server, { directory: site.directory }));
    for (let round = 0; round < 7; round += 1) await rig.poll();
    expect((await rig.ledger()).map(({ name, state }) => [name, state])).toEqual(
      names.map((name) => [name, "applied"]),
    );
  } finally {
    await rig.close();
    await site.end();
  }
});
