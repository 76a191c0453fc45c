/** Remotes on OpenSSH's server and vsftpd: each file once. */
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { faultOfRemoteName } from "../../src/domain/files/remote-file-name.ts";
import type { PolledRemote } from "../../src/endpoints/remote/remote-deps.ts";
import { remoteForEachTest } from "../support/remote-for-each-test.ts";
import { type RemoteChanges, RemoteRig } from "../support/remote-rig.ts";
import {
  contentsOf,
  giveFolder,
  openFtpsRemote,
  openSftpRemote,
  putFile,
  type RemoteSite,
  stopText,
} from "../support/remote-site.ts";
import { isInstalled } from "../support/run-program.ts";

const isRoot = process.getuid?.() === 0;

function describeRemote(kind: string, open: () => Promise<RemoteSite>): void {
  let site: RemoteSite;
  let rig: RemoteRig;
  remoteForEachTest(open, (itsSite, itsRig) => {
    [site, rig] = [itsSite, itsRig];
  });

  const remote = (changes: RemoteChanges = {}): PolledRemote =>
    rig.remote(site.server, { directory: site.directory, ...changes });
  const put = (name: string, content: string, daysAgo?: number) =>
    putFile(join(site.box, name), content, daysAgo);

  describe(`a remote (${kind})`, () => {
    test("has its files taken once, in the order of their names, and removed there", async () => {
      await rig.use(remote());
      for (const hour of ["11", "08", "10", "09"])
        put(`a_20261105_${hour}0000.xml`, stopText("a", `at ${hour}`));
      put("b_20261105_070000.xml", stopText("b"));
      await rig.poll();
      await rig.poll();
      expect(await rig.names()).toEqual([
        "b_20261105_070000.xml",
        ...["08", "09", "10", "11"].map((hour) => `a_20261105_${hour}0000.xml`),
      ]);
      const ledger = await rig.ledger();
      expect(new Set(ledger.map(({ state, channel }) => `${state} ${channel}`))).toEqual(
        new Set(["applied remote:partner"]),
      );
      expect(readdirSync(site.box)).toEqual([]);
      expect(rig.leftovers()).toEqual([]);
      expect(rig.warnings()).toEqual([]);
      expect(rig.endpoint.statistics()).toMatchObject([
        { company: "ACME", remote: "partner", filesTaken: 5, failures: 0, isFailing: false },
      ]);
    });

    test("is left a file that grows until it does not", async () => {
      await rig.use(remote({ settleMs: 300 }));
      const path = join(site.box, "a_20261105_080000.xml");
      writeFileSync(path, "<Stop>");
      const growing = setInterval(() => appendFileSync(path, " "), 30);
      await rig.poll();
      clearInterval(growing);
      expect(await rig.names()).toEqual([]);
      writeFileSync(path, stopText("a"));
      await rig.poll();
      expect((await rig.ledger()).map(({ state, size }) => [state, size])).toEqual([
        ["applied", stopText("a").length],
      ]);
    });

    test("is left a file with the name of an unfinished one, until it is renamed", async () => {
      await rig.use(remote());
      put("a_20261105_080000.xml.part", stopText("a"));
      put(".b_20261105_080000.xml", stopText("b"));
      await rig.poll();
      expect(await rig.names()).toEqual([]);
      renameSync(join(site.box, "a_20261105_080000.xml.part"), join(site.box, "a_20261105_080000.xml"));
      await rig.poll();
      expect(await rig.names()).toEqual(["a_20261105_080000.xml"]);
      expect(readdirSync(site.box)).toEqual([".b_20261105_080000.xml"]);
    });

    test("has a file that is sent again answered as a duplicate, and one of the same name with other content refused", async () => {
      await rig.use(remote());
      for (const text of ["one", "one", "two"]) {
        put("a_20261105_080000.xml", stopText("a", text));
        await rig.poll();
      }
      expect((await rig.ledger()).map(({ state }) => state)).toEqual(["applied", "duplicate", "refused"]);
      expect(readdirSync(site.box)).toEqual([]);
    });

    test("is left its files when they stay, and each version is fetched once, also over a restart", async () => {
      await rig.use(remote({ after: "leave" }));
      put("a_20261105_080000.xml", stopText("a", "one"), 3);
      put("b_20261105_080000.xml", stopText("b"), 3);
      await rig.poll();
      await rig.poll();
      await rig.use();
      await rig.use(remote({ after: "leave" }));
      await rig.poll();
      expect(await rig.names()).toEqual(["a_20261105_080000.xml", "b_20261105_080000.xml"]);
      put("a_20261105_080000.xml", stopText("a", "one"), 2);
      await rig.poll();
      expect((await rig.ledger()).map(({ state }) => state)).toEqual(["applied", "applied", "duplicate"]);
      expect(readdirSync(site.box)).toHaveLength(2);
    });

    test("has what is noted of a file forgotten when it is gone", async () => {
      const polled = remote({ after: "leave" });
      await rig.use(polled);
      const names = ["a", "b", "c"].map((stop) => `${stop}_20261105_080000.xml`);
      for (const name of names) put(name, stopText(name[0] ?? ""));
      await rig.poll();
      const noted = async () =>
        (await rig.store.read.selectFrom("remote_files").select("name").execute()).length;
      expect(await noted()).toBe(3);
      rmSync(join(site.box, names[1] ?? ""));
      await rig.poll();
      expect(await noted()).toBe(2);
    });

    test("has its files moved, and none over another", async () => {
      await rig.use(remote({ after: "move", moveTo: site.done }));
      for (const text of ["one", "two"]) {
        put("a_20261105_080000.xml", stopText("a", text));
        await rig.poll();
      }
      expect(readdirSync(site.box)).toEqual([]);
      const moved = contentsOf(site.doneBox);
      expect(Object.values(moved).sort()).toEqual([stopText("a", "one"), stopText("a", "two")]);
      expect(Object.keys(moved)[0]).toBe("a_20261105_080000.xml");
    });

    test("has nothing fetched as long as the folder to move to is not there", async () => {
      await rig.use(remote({ after: "move", moveTo: `${site.done}/none` }));
      put("a_20261105_080000.xml", stopText("a"));
      await rig.poll();
      expect(await rig.names()).toEqual([]);
      expect(rig.warnings()).toEqual([expect.stringMatching(/cannot be polled.*none/)]);
    });

    test("has only files taken, with names that can be one's own; each other entry is told once", async () => {
      await rig.use(remote());
      mkdirSync(join(site.box, "folder_20261105_080000.xml"));
      mkdirSync(join(site.box, "folder"));
      put("a_20261105_080000.xml", stopText("a"));
      symlinkSync(join(site.box, "a_20261105_080000.xml"), join(site.box, "link_20261105_080000.xml"));
      put("back\\slash.xml", stopText("a"));
      writeFileSync(
        Buffer.concat([Buffer.from(`${site.box}/`), Buffer.from([0xff, 0xfe]), Buffer.from(".xml")]),
        "x",
      );
      await rig.poll();
      await rig.poll();
      expect(await rig.names()).toEqual(["a_20261105_080000.xml"]);
      const told = rig.warnings().filter((text) => text.includes("left alone"));
      expect(told.filter((text) => text.includes("a folder is not fetched"))).toHaveLength(1);
      expect(told.filter((text) => text.includes("a link is not followed"))).toHaveLength(1);
      expect(told.filter((text) => text.includes(String(faultOfRemoteName("\uFFFD"))))).toHaveLength(1);
      expect(readdirSync(site.box)).toHaveLength(5);
    });

    test("has a file that is too large left alone", async () => {
      rig.limits = { ...rig.limits, maxFileBytes: 1_000 };
      await rig.use(remote());
      put("a_20261105_080000.xml", stopText("a", "x".repeat(1_000)));
      put("b_20261105_080000.xml", stopText("b"));
      await rig.poll();
      await rig.poll();
      expect(await rig.names()).toEqual(["b_20261105_080000.xml"]);
      expect(rig.warnings()).toEqual([expect.stringMatching(/maxFileBytes/)]);
    });

    test("has an empty file and one of some megabytes taken whole", async () => {
      await rig.use(remote());
      put("empty_20261105_080000.xml", "");
      const large = `${stopText("a")}${" ".repeat(5_000_000)}`;
      put("a_20261105_080000.xml", large);
      await rig.poll();
      const sizes = (await rig.ledger()).map(({ name, state, size }) => [name, state, size]);
      expect(sizes.sort()).toEqual([
        ["a_20261105_080000.xml", "applied", large.length],
        ["empty_20261105_080000.xml", "refused", 0],
      ]);
    });

    test("with more files than are taken in a round has the rest taken later", async () => {
      await rig.close();
      rig = await RemoteRig.open(4);
      for (const stop of "abcdefghij") put(`${stop}_20261105_080000.xml`, stopText(stop));
      await rig.use(remote());
      for (let round = 0; round < 3; round += 1) await rig.poll();
      expect(new Set(await rig.names()).size).toBe(10);
      expect(await rig.names()).toHaveLength(10);
      expect(rig.warnings().filter((text) => text.includes("more files than"))).toHaveLength(1);
    });

    test.skipIf(!isRoot)(
      "that lets nobody remove its files has each fetched once, which is told once",
      async () => {
        const box = giveFolder(join(site.box, "fixed"), true);
        await rig.use(remote({ directory: `${site.directory}/fixed` }));
        for (const stop of ["a", "b"]) putFile(join(box, `${stop}_20261105_080000.xml`), stopText(stop));
        await rig.poll();
        await rig.poll();
        expect(await rig.names()).toEqual(["a_20261105_080000.xml", "b_20261105_080000.xml"]);
        expect(rig.warnings()).toEqual([expect.stringMatching(/refuses to remove/)]);
        expect(rig.endpoint.statistics()).toMatchObject([{ filesTaken: 2, failures: 0 }]);
        putFile(join(box, "a_20261105_080000.xml"), stopText("a", "new"), 5);
        await rig.poll();
        expect(await rig.names()).toHaveLength(3);
      },
    );

    test.skipIf(!isRoot)(
      "that lets nobody read a file has the others taken, and the one told once",
      async () => {
        await rig.use(remote());
        put("a_20261105_080000.xml", stopText("a"));
        put("b_20261105_080000.xml", stopText("b"));
        chmodSync(join(site.box, "a_20261105_080000.xml"), 0o600);
        await rig.poll();
        await rig.poll();
        expect(await rig.names()).toEqual(["b_20261105_080000.xml"]);
        expect(rig.warnings()).toEqual([expect.stringMatching(/cannot be fetched; it stays there.*a_2026/)]);
        expect(rig.leftovers()).toEqual([]);
      },
    );

    test("whose folder is missing is told once, and goes on when it is there", async () => {
      await rig.use(remote({ directory: `${site.directory}/later` }));
      await rig.poll();
      expect(rig.warnings()).toEqual([expect.stringMatching(/cannot be polled/)]);
      expect(rig.endpoint.statistics()).toMatchObject([{ isFailing: true, lastSuccessAt: undefined }]);
      putFile(join(giveFolder(join(site.box, "later")), "a_20261105_080000.xml"), stopText("a"));
      await rig.poll();
      expect(await rig.names()).toEqual(["a_20261105_080000.xml"]);
      expect(rig.endpoint.statistics()).toMatchObject([{ isFailing: false }]);
      expect(rig.lines.filter(({ msg }) => msg === "the remote can be used again")).toHaveLength(1);
    });
  });

  describe(`what a crash has left of a remote (${kind})`, () => {
    const name = "a_20261105_080000.xml";
    const noteAsTaken = async (polled: PolledRemote, content: string) => {
      put(name, content);
      rig.remotes = [polled];
      await rig.use(polled);
      const [row] = await rig.store.read.selectFrom("remote_files").selectAll().execute();
      return row;
    };

    test("a file that is noted and in the ledger is removed there, and not taken again", async () => {
      const polled = remote({ after: "leave" });
      await noteAsTaken(polled, stopText("a"));
      await rig.poll();
      expect(await rig.names()).toEqual([name]);
      await rig.store.write("site", (tx) =>
        tx.updateTable("remote_files").set({ state: "taken", after_file_id: 0 }).execute(),
      );
      await rig.use(remote({ after: "delete" }));
      await rig.poll();
      expect(await rig.names()).toEqual([name]);
      expect(readdirSync(site.box)).toEqual([]);
      await rig.poll();
      expect(await rig.store.read.selectFrom("remote_files").selectAll().execute()).toEqual([]);
    });

    test("a file that is noted and was never placed is taken", async () => {
      const polled = remote({ after: "leave" });
      await noteAsTaken(polled, stopText("a"));
      await rig.poll();
      // As if that had been an earlier file of the name, before the note.
      await rig.store.write("site", (tx) =>
        tx.updateTable("remote_files").set({ state: "taken", after_file_id: 1 }).execute(),
      );
      await rig.use(remote({ after: "delete" }));
      await rig.poll();
      expect((await rig.ledger()).map(({ state }) => state)).toEqual(["applied", "duplicate"]);
      expect(readdirSync(site.box)).toEqual([]);
    });

    test("a file that is noted and lies in inbound/ is left to the scan of the folder", async () => {
      const polled = remote({ after: "leave" });
      await noteAsTaken(polled, stopText("a"));
      await rig.poll();
      await rig.store.write("site", (tx) =>
        tx.updateTable("remote_files").set({ state: "taken", after_file_id: 1 }).execute(),
      );
      writeFileSync(join(rig.inbound, name), stopText("a"));
      await rig.use(remote({ after: "delete" }));
      await rig.poll();
      expect(await rig.names()).toHaveLength(1);
      expect(readdirSync(site.box)).toEqual([name]);
    });

    test("a file that is noted and of which the scan makes a copy is left to the scan", async () => {
      const polled = remote({ after: "leave" });
      await noteAsTaken(polled, stopText("a"));
      await rig.poll();
      await rig.store.write("site", (tx) =>
        tx.updateTable("remote_files").set({ state: "taken", after_file_id: 1 }).execute(),
      );
      mkdirSync(join(rig.inbound, ".aside"));
      writeFileSync(join(rig.inbound, ".aside", `0123456789ab-${name}`), stopText("a"));
      await rig.use(remote({ after: "delete" }));
      await rig.poll();
      expect(await rig.names()).toHaveLength(1);
      expect(readdirSync(site.box)).toEqual([name]);
    });

    test("a download that was left is removed", async () => {
      mkdirSync(join(rig.inbound, ".fetching"));
      writeFileSync(join(rig.inbound, ".fetching", "0123456789ab-0123456789abcdef"), "half of it");
      await rig.use(remote());
      expect(rig.leftovers()).toEqual([]);
    });
  });
}

describe.skipIf(!isInstalled("sshd"))("OpenSSH's server", () => describeRemote("sftp", openSftpRemote));
describe.skipIf(!isInstalled("vsftpd") || !isRoot)("vsftpd", () => describeRemote("ftps", openFtpsRemote));
