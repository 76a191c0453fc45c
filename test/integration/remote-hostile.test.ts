/** Remotes that lie, never end, or answer wrongly: nothing of it is taken, and nobody else is harmed. */
import { generateKeyPairSync, hash } from "node:crypto";
import { monitorEventLoopDelay } from "node:perf_hooks";
import ssh2 from "ssh2";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { describeKey } from "../../src/remote/host-keys.ts";
import type { FtpSettings, SftpSettings } from "../../src/remote/server-settings.ts";
import { type RemoteChanges, RemoteRig } from "../support/remote-rig.ts";
import { stopText } from "../support/remote-site.ts";
import { sampled } from "../support/sampled.ts";
import { lineOf, type ScriptedFtp, startScriptedFtp } from "../support/scripted-ftp.ts";

const name = "a_20261105_080000.xml";
const times = { connectMs: 60_000, silenceMs: 60_000, keepMs: 1_000 } as const;
/** While a server says nothing. */
const hurried = { connectMs: 2_000, silenceMs: 800, keepMs: 1_000 } as const;

let rig: RemoteRig;
let server: ScriptedFtp;
beforeEach(async () => {
  rig = await RemoteRig.open(100);
  server = await startScriptedFtp();
});
afterEach(async () => {
  await rig.close();
  await server.end();
});

function settings(): FtpSettings {
  return {
    ...{ kind: "ftp", host: "127.0.0.1", port: server.port, user: "u", password: "kaz-21-lorry" },
    ...{ security: "plain", ca: undefined, certificateFingerprint: undefined, times },
  };
}

const remote = (changes: RemoteChanges = {}) => rig.remote(settings(), changes);
const put = (content = stopText("a"), file = name) => server.files.set(file, Buffer.from(content));
const commandsOf = (command: string) => server.commands.filter((one) => one.startsWith(`${command} `));

function* repeated(piece: Buffer): Generator<Buffer> {
  for (;;) yield piece;
}

/** So many folders, and then the files. */
function* manyLines(count: number): Generator<string> {
  for (let at = 0; at < count; at += 100) {
    let lines = "";
    for (let more = 0; more < 100; more += 1) lines += lineOf(`folder-${at + more}-of-many`, 50, "d");
    yield lines;
  }
  for (const [file, { length }] of server.files) yield lineOf(file, length);
}

describe("a server of a remote", () => {
  test("in the form of `ls -l` has its files taken", async () => {
    put();
    await rig.use(remote());
    await rig.poll();
    expect(await rig.names()).toEqual([name]);
    expect(server.files.size).toBe(0);
  });

  test("that lists names which lead elsewhere, or are none, is never asked for them", async () => {
    const listed = ["../evil.xml", "/etc/passwd.xml", "..", "a/../../b.xml", "x\u0007y.xml", "n".repeat(300)];
    server.listing = () => [...listed.map((one) => lineOf(one, 50)), lineOf(name, stopText("a").length)];
    put();
    await rig.use(remote());
    await rig.poll();
    expect(await rig.names()).toEqual([name]);
    expect(new Set(commandsOf("RETR"))).toEqual(new Set([`RETR ${name}`]));
  });

  test.each([
    ["more", 10],
    ["less", 10_000],
  ])("that sends %s than it has listed has the file not taken, which is told once", async (_what, size) => {
    server.listing = () => [lineOf(name, size)];
    put();
    await rig.use(remote());
    for (let round = 0; round < 3; round += 1) await rig.poll();
    expect(await rig.names()).toEqual([]);
    expect(rig.warnings()).toEqual([expect.stringMatching(/cannot be fetched.*listed/)]);
    expect(rig.leftovers()).toEqual([]);
    // Tried again, but not in each round.
    expect(commandsOf("RETR").length).toBeLessThanOrEqual(2);
  });

  test("that sends a file without an end is cut at the size that it has listed", async () => {
    put();
    server.content = (file) => (file === name ? repeated(Buffer.alloc(65_536)) : undefined);
    await rig.use(remote({ timeoutMs: 5_000 }));
    await rig.poll();
    expect(await rig.names()).toEqual([]);
    expect(rig.leftovers()).toEqual([]);
  });

  test("with hundreds of thousands of entries is listed to its end, in little memory, and nobody else waits", async () => {
    server.listing = () => manyLines(300_000);
    put();
    const before = process.memoryUsage().rss;
    const delay = monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    await rig.use(remote({ timeoutMs: 60_000 }));
    delay.disable();
    expect(await rig.names()).toEqual([name]);
    expect((process.memoryUsage().rss - before) / 2 ** 20).toBeLessThan(250);
    expect(delay.percentile(99) / 1e6).toBeLessThan(500);
  });

  test("with more files than there is room for is listed no further", async () => {
    let given = 0;
    server.listing = function* () {
      for (let at = 0; at < 1_000_000; at += 1) {
        given += 1;
        yield lineOf(`s${at}_20261105_080000.xml`, 200);
      }
    };
    for (let at = 0; at < 300; at += 1) put(stopText(`s${at}`).padEnd(200), `s${at}_20261105_080000.xml`);
    await rig.use(remote({ after: "leave", name: "full" }));
    expect((await rig.names()).length).toBeGreaterThanOrEqual(100);
    expect(given).toBeLessThan(500_000);
    expect(rig.warnings()).toContainEqual(expect.stringMatching(/more files than one poll takes/));
  });

  test("that lists without an end is left after the time for a listing", async () => {
    server.listing = function* () {
      for (let at = 0; ; at += 1) yield lineOf(`.hidden${at}`, 1);
    };
    await rig.use(remote({ timeoutMs: 5_000 }));
    expect(rig.lines.filter(({ level }) => level === "warn")).toMatchObject([{ fault: "timeout" }]);
    expect(rig.warnings()).toEqual([expect.stringMatching(/timeoutMs.*listing the folder/)]);
  });

  test.each([
    ["a line without an end", () => repeated(Buffer.alloc(65_536, 0x61))],
    ["nonsense", () => ["no listing at all\r\n", "@@@@\r\n"]],
  ])("that lists %s is told", async (_what, listing) => {
    server.listing = listing as () => Iterable<string>;
    await rig.use(remote({ timeoutMs: 5_000 }));
    expect(rig.lines.filter(({ level }) => level === "warn")).toHaveLength(1);
    expect(await rig.names()).toEqual([]);
  });

  test.each(sampled(["LIST", "EPSV", "RETR", "CWD", "DELE"], 3))(
    "that says nothing to %s is told, and the file is taken once when it speaks again",
    async (command) => {
      put();
      server.replies.set(command, "silent");
      await rig.use(remote({ directory: "out", server: { times: hurried } }));
      // A round leaves a file alone that is not decided yet, and then has nothing to say DELE about.
      await rig.decided();
      await rig.poll();
      expect(rig.endpoint.statistics()).toMatchObject([{ isFailing: true }]);
      const told = rig.warnings().filter((line) => !line.startsWith("a file of a remote"));
      const recoveries = rig.lines.filter(({ msg }) => msg === "the remote can be used again");
      // Once for each time that it begins to fail: a round in which there was nothing to remove yet has ended one.
      expect(told).toHaveLength(1 + recoveries.length);
      server.replies.delete(command);
      // At which the link has broken again and again, a file rests, unless it is another one.
      if (command === "RETR") put(stopText("a", "sent again"));
      await rig.use(remote({ directory: "out" }));
      await rig.poll();
      await rig.poll();
      expect(await rig.names()).toEqual([name]);
      expect(server.files.size).toBe(0);
      expect(rig.leftovers()).toEqual([]);
    },
  );

  test("that replaces a file while it is fetched has the new one taken as well, and none removed unseen", async () => {
    put(stopText("a", "old"));
    let isReplaced = false;
    server.onCommand = (command) => {
      if (command !== "DELE" && command !== "SIZE") return;
      if (isReplaced || !server.commands.includes(`RETR ${name}`)) return;
      isReplaced = true;
      put(stopText("a", "a newer one"));
    };
    await rig.use(remote());
    for (let round = 0; round < 3; round += 1) await rig.poll();
    expect(server.files.size).toBe(0);
    const sizes = (await rig.ledger()).map(({ size }) => size);
    expect(sizes).toContain(stopText("a", "a newer one").length);
  });

  test.each(["RETR", "MDTM"])(
    "that replaces a file by one of the same size at %s has the new one taken, for its time is another",
    async (moment) => {
      const [older, newer] = [stopText("a", "old"), stopText("a", "new")];
      put(older);
      server.times.set(name, "20261105080000");
      let isReplaced = false;
      server.onCommand = (command) => {
        // Amid the download, and before the look that comes ahead of the removal.
        const isThen = command === moment && (moment !== "MDTM" || commandsOf("MDTM").length === 3);
        if (!isThen || isReplaced) return;
        isReplaced = true;
        server.content = () => {
          server.content = () => undefined;
          return moment === "RETR" ? [Buffer.from(older)] : undefined;
        };
        put(newer);
        server.times.set(name, "20261105080001");
      };
      await rig.use(remote());
      for (let round = 0; round < 3; round += 1) await rig.poll();
      expect(isReplaced).toBe(true);
      expect(server.files.size).toBe(0);
      const digests = (await rig.ledger()).map(({ sha256 }) => sha256);
      expect(digests).toContain(hash("sha256", newer));
    },
  );

  test("that hangs at one file again and again has the others taken, and that one when it hangs no more", async () => {
    const names = ["a", "b", "c"].map((stop) => `${stop}_20261105_080000.xml`);
    for (const [at, file] of names.entries()) put(stopText("abc"[at] ?? ""), file);
    server.replies.set(`RETR ${name}`, "silent");
    // A machine that is busy is silent for a second or two itself.
    await rig.use(remote({ server: { times: { ...hurried, silenceMs: 4_000 } } }));
    expect(await rig.names()).toEqual([]);
    for (let round = 0; round < 2; round += 1) await rig.poll();
    expect(await rig.names()).toEqual(names.slice(1));
    expect([...server.files.keys()]).toEqual([name]);
    expect(rig.warnings().some((line) => line.includes(`cannot be fetched`) && line.includes(name))).toBe(
      true,
    );
    expect(rig.endpoint.statistics()).toMatchObject([{ isFailing: true }]);
    server.replies.clear();
    put(stopText("a", "sent again"));
    await rig.use(remote());
    await rig.poll();
    expect(await rig.names()).toEqual([...names.slice(1), name]);
    expect(rig.endpoint.statistics()).toMatchObject([{ isFailing: false }]);
  });

  test("that forgets to remove what it says it has removed has it taken once more, as a duplicate", async () => {
    put();
    server.replies.set("DELE", "250 gone");
    await rig.use(remote());
    await rig.poll();
    server.replies.delete("DELE");
    await rig.poll();
    expect(new Set((await rig.ledger()).map(({ state }) => state))).toEqual(
      new Set(["applied", "duplicate"]),
    );
    expect(server.files.size).toBe(0);
  });
});

const hostKey = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({
  type: "pkcs1",
  format: "pem",
});

interface SshFolder {
  /** The names that it lists, in portions. */
  readonly portions: () => Iterator<readonly string[]>;
  /** The paths that it was asked for. */
  readonly opened: string[];
}

function serve(sftp: ssh2.SFTPWrapper, { portions, opened }: SshFolder): void {
  const { STATUS_CODE } = ssh2.utils.sftp;
  const attrs = { mode: 0o100644, uid: 0, gid: 0, size: 50, atime: 1, mtime: 1 };
  let left = portions();
  sftp.on("OPENDIR", (id) => {
    left = portions();
    sftp.handle(id, Buffer.from("folder"));
  });
  sftp.on("READDIR", (id) => {
    const portion = left.next();
    if (portion.done === true) sftp.status(id, STATUS_CODE.EOF);
    else
      sftp.name(
        id,
        portion.value.map((filename) => ({ filename, longname: `- ${filename}`, attrs })),
      );
  });
  for (const name of ["STAT", "LSTAT"] as const)
    sftp.on(name, (id: number) => sftp.attrs(id, { ...attrs, mode: 0o040755 }));
  sftp.on("REALPATH", (id) => sftp.name(id, [{ filename: "/", longname: "/", attrs }]));
  sftp.on("CLOSE", (id) => sftp.status(id, STATUS_CODE.OK));
  sftp.on("OPEN", (id, path) => {
    opened.push(path);
    sftp.status(id, STATUS_CODE.PERMISSION_DENIED);
  });
}

async function startSshFolder(
  portions: SshFolder["portions"],
): Promise<SshFolder & { server: SftpSettings }> {
  const folder: SshFolder = { portions, opened: [] };
  const ssh = new ssh2.Server({ hostKeys: [hostKey] }, (client) => {
    client.on("error", () => undefined);
    client.on("authentication", (context) => context.accept());
    client.on("session", (accept) => accept().on("sftp", (acceptSftp) => serve(acceptSftp(), folder)));
  });
  await new Promise<void>((resolve) => ssh.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise<void>((resolve) => void ssh.close(() => resolve())));
  const address = ssh.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const parsed = ssh2.utils.parseKey(hostKey);
  if (parsed instanceof Error) throw parsed;
  return {
    ...folder,
    server: {
      ...{ kind: "sftp", host: "127.0.0.1", port, user: "u", password: "kaz-21-lorry" },
      ...{ privateKey: undefined, passphrase: undefined, times },
      hostKeys: [describeKey(parsed.getPublicSSH()).fingerprint],
    },
  };
}

describe("an SFTP server of a remote", () => {
  test("that lists names which lead elsewhere is never asked for them", async () => {
    const names = ["../evil.xml", "/etc/passwd", "a/b.xml", "..", "x\u0000.xml", "x\n.xml", "", name];
    const folder = await startSshFolder(() => [names][Symbol.iterator]());
    await rig.use(rig.remote(folder.server));
    await rig.poll();
    expect(new Set(folder.opened)).toEqual(new Set([name]));
    expect(await rig.names()).toEqual([]);
  });

  test("that lists without an end is left after the time for a listing", async () => {
    const folder = await startSshFolder(function* () {
      for (let at = 0; ; at += 1) yield [`.hidden-${at}`];
    });
    await rig.use(rig.remote(folder.server, { timeoutMs: 5_000 }));
    expect(rig.lines.filter(({ level }) => level === "warn")).toMatchObject([{ fault: "timeout" }]);
  });

  test("that lists portions of nothing without an end is left as well, and a reload ends it at once", async () => {
    const folder = await startSshFolder(function* () {
      for (;;) yield [];
    });
    rig.remotes = [rig.remote(folder.server, { timeoutMs: 60_000 })];
    await rig.endpoint.reload();
    const begun = performance.now();
    await rig.use();
    expect(performance.now() - begun).toBeLessThan(30_000);
  });
});
