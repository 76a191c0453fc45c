/** The SFTP target against OpenSSH's server, and against servers that only a test can have. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ssh2 from "ssh2";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Target } from "../../src/outbound/target.ts";
import { createSftpTarget, type SftpTargetOptions } from "../support/server-targets.ts";
import { deliveryOf, faultOf, fileOf, messageOf, never } from "../support/deliveries.ts";
import { filesBelow } from "../support/files-below.ts";
import { isInstalled, runProgram } from "../support/run-program.ts";
import { serverUser, type SshServer, startSshServer } from "../support/ssh-server.ts";
import {
  describeNetworkFaults,
  describeTarget,
  type Network,
  type TargetSite,
  testTimes,
} from "../support/target-conformance.ts";
import { mayMount, startTinyDisk } from "../support/tiny-disk.ts";

const hasServer = isInstalled("sshd");
const isRoot = process.getuid?.() === 0;

function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "dropgate-sftp-"));
  chmodSync(folder, 0o755);
  return folder;
}

/** A folder on the server's side that its user may write to. */
function giveFolder(path: string): string {
  mkdirSync(path, { recursive: true });
  if (isRoot) execFileSync("chown", [serverUser, path]);
  return path;
}

interface SftpSite extends TargetSite {
  readonly network: Network;
  readonly server: SshServer;
  readonly folder: string;
  readonly inbox: string;
  options(more?: Partial<SftpTargetOptions>): SftpTargetOptions;
}

async function openSite(): Promise<SftpSite> {
  const folder = openFolder();
  const server = await startSshServer(join(folder, "server"));
  const inbox = giveFolder(join(folder, "in"));
  const { user, port, privateKey, fingerprints } = server;
  const options = (more: Partial<SftpTargetOptions> = {}): SftpTargetOptions => ({
    host: "127.0.0.1",
    port,
    user,
    privateKey,
    hostKeys: [fingerprints[0]],
    directory: inbox,
    connections: 3,
    ...testTimes,
    ...more,
  });
  const otherKey = () => {
    const { private: text } = ssh2.utils.generateKeyPairSync("ed25519");
    return createSftpTarget(options({ privateKey: text }));
  };
  return {
    server,
    folder,
    inbox,
    options,
    target: () => createSftpTarget(options()),
    wrongCredentials: otherKey,
    files: async () => filesBelow(inbox),
    put: async (name, bytes) => {
      const path = join(inbox, name);
      rmSync(path, { force: true });
      writeFileSync(path, bytes);
    },
    clear: async () => {
      for (const name of readdirSync(inbox)) rmSync(join(inbox, name), { recursive: true });
    },
    network: {
      port,
      targetAt: (other, times) => createSftpTarget(options({ port: other, ...times })),
      midwayBytes: 1_000_000,
      slowMs: 150,
    },
    end: async () => {
      await server.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

describe.skipIf(!hasServer)("the SFTP target and OpenSSH's server", () => {
  describeTarget("sftp", openSite, { hasNames: true, hasCredentials: true });
  describeNetworkFaults("sftp", openSite);

  let site: SftpSite;
  beforeAll(async () => {
    site = await openSite();
  });
  afterAll(() => site.end());

  async function once(more: Partial<SftpTargetOptions>, work?: (target: Target) => Promise<void>) {
    const target = createSftpTarget(site.options(more));
    try {
      await work?.(target);
      return await target.deliver(deliveryOf([fileOf("once.xml", "once")]), never);
    } finally {
      await target.close();
    }
  }

  test("without a host key nothing is sent, and the message has what to configure", async () => {
    const outcome = await once({ hostKeys: [] });
    expect(outcome).toMatchObject({ fault: "configuration", isPermanent: false, scope: "target" });
    for (const fingerprint of site.server.fingerprints) expect(messageOf(outcome)).toContain(fingerprint);
  });

  test("any one of the server's keys can be the pinned one, also among others", async () => {
    const [first, second] = site.server.fingerprints;
    expect(faultOf(await once({ hostKeys: [second] }))).toBe("delivered");
    expect(faultOf(await once({ hostKeys: ["SHA256:AAAA", `${first}=`] }))).toBe("delivered");
  });

  test("a changed host key: nothing is sent, until the new one is pinned", async () => {
    const before = site.server.fingerprints[0];
    const changed = await startSshServer(join(site.folder, "changed"));
    onTestFinished(() => changed.end());
    const { port, privateKey, fingerprints } = changed;
    const outcome = await once({ port, privateKey, hostKeys: [before] });
    expect(outcome).toMatchObject({ fault: "identity", isPermanent: false, scope: "target" });
    expect(messageOf(outcome)).toContain(fingerprints[0]);
    expect(faultOf(await once({ port, privateKey, hostKeys: [before, fingerprints[0]] }))).toBe("delivered");
  });

  test("a missing folder is a fault, unless it is to be made", async () => {
    const directory = join(site.inbox, "deep", "er");
    const outcome = await once({ directory });
    expect(outcome).toMatchObject({ fault: "missingFolder", isPermanent: false, scope: "target" });
    expect(messageOf(outcome)).toContain(directory);
    expect(faultOf(await once({ directory, makeFolders: true }))).toBe("delivered");
    expect(readFileSync(join(directory, "once.xml"), "utf8")).toBe("once");
  });

  test("a file in the place of the folder is a fault", async () => {
    writeFileSync(join(site.inbox, "plain"), "");
    expect(faultOf(await once({ directory: join(site.inbox, "plain") }))).toBe("missingFolder");
  });

  test("a folder without the right to write: permanent, and said", async () => {
    const directory = giveFolder(join(site.folder, "read-only"));
    chmodSync(directory, 0o555);
    const outcome = await once({ directory });
    expect(outcome).toMatchObject({ fault: "notAllowed", isPermanent: true, scope: "target" });
    expect(messageOf(outcome)).toContain("right to write");
  });

  test("no right to rename: permanent, said, and no temporary file is left", async () => {
    const directory = giveFolder(join(site.folder, "no-rename"));
    const strict = await startSshServer(join(site.folder, "strict"), { refuses: "rename" });
    onTestFinished(() => strict.end());
    const { port, privateKey, fingerprints } = strict;
    const outcome = await once({ port, privateKey, hostKeys: fingerprints, directory });
    expect(outcome).toMatchObject({ fault: "notAllowed", isPermanent: true, scope: "target" });
    expect(messageOf(outcome)).toContain("renaming");
    expect(readdirSync(directory)).toEqual([]);
  });

  test("a folder has the name: it is taken", async () => {
    mkdirSync(join(site.inbox, "folder.xml"));
    const target = createSftpTarget(site.options());
    const outcome = await target.deliver(deliveryOf([fileOf("folder.xml", "")]), never);
    await target.close();
    expect(outcome).toEqual({ kind: "nameTaken", name: "folder.xml" });
  });

  test("a part that an earlier run has left is overwritten by the same delivery", async () => {
    const delivery = deliveryOf([fileOf("again.xml", "x".repeat(100))]);
    const first = createSftpTarget(site.options({ timeoutMs: 10_000 }));
    const controller = new AbortController();
    await first.deliver(delivery, controller.signal);
    await first.close();
    const { temporaryNameOf } = await import("../../src/targets/delivery-files.ts");
    const part = join(site.inbox, temporaryNameOf(delivery, "again.xml"));
    rmSync(join(site.inbox, "again.xml"));
    writeFileSync(part, "y".repeat(1_000));
    if (isRoot) execFileSync("chown", [serverUser, part]);
    const second = createSftpTarget(site.options());
    expect(faultOf(await second.deliver(delivery, never))).toBe("delivered");
    await second.close();
    expect(existsSync(part)).toBe(false);
    expect(statSync(join(site.inbox, "again.xml")).size).toBe(100);
  });

  test("a name that cannot be read back counts by its size", async () => {
    const directory = giveFolder(join(site.folder, "box"));
    const path = join(directory, "once.xml");
    writeFileSync(path, "once", { mode: 0o200 });
    if (isRoot) execFileSync("chown", [serverUser, path]);
    expect(faultOf(await once({ directory }))).toBe("delivered");
    writeFileSync(path, "once more");
    expect(faultOf(await once({ directory }))).toBe("nameTaken");
  });

  test("a key with a passphrase is opened with it; a wrong one is told before anything is sent", async () => {
    const path = join(site.folder, "locked");
    writeFileSync(path, site.server.privateKey, { mode: 0o600 });
    await runProgram("ssh-keygen", ["-q", "-p", "-N", "tunnel vision", "-f", path]);
    const privateKey = readFileSync(path, "utf8");
    expect(faultOf(await once({ privateKey, passphrase: "tunnel vision" }))).toBe("delivered");
    const outcome = await once({ privateKey, passphrase: "tunnel" });
    expect(outcome).toMatchObject({ fault: "configuration", scope: "target" });
    expect(messageOf(outcome)).not.toContain("tunnel");
  });

  test.each(["022", "027", "077"])(
    "files and folders get the mode that the server gives (umask %s), also where an export's manifest follows",
    async (umask) => {
      const other = await startSshServer(join(site.folder, `umask-${umask}`), { umask });
      onTestFinished(() => other.end());
      const { port, privateKey, fingerprints } = other;
      const directory = giveFolder(join(site.folder, `modes-${umask}`));
      const target = createSftpTarget(site.options({ port, privateKey, hostKeys: fingerprints, directory }));
      onTestFinished(() => target.close());
      const files = [
        fileOf("a.xml", "a"),
        fileOf("empty.xml", ""),
        fileOf("manifest.xml", "m".repeat(100_000)),
      ];
      const deliveries = [deliveryOf([fileOf("a.xml", "a")]), deliveryOf(files, { directory: "night-1" })];
      for (const delivery of deliveries)
        expect(faultOf(await target.deliver(delivery, never))).toBe("delivered");
      const modeOf = (name: string) => statSync(join(directory, name)).mode & 0o7777;
      const expected = 0o666 & ~Number.parseInt(umask, 8);
      const names = ["a.xml", ...files.map(({ name }) => `night-1/${name}`)];
      expect(Object.fromEntries(names.map((name) => [name, modeOf(name)]))).toEqual(
        Object.fromEntries(names.map((name) => [name, expected])),
      );
      expect(modeOf("night-1")).toBe(0o777 & ~Number.parseInt(umask, 8));
    },
  );

  test.skipIf(!mayMount)("a full disk: told as such, nothing is left, and it goes on with room", async () => {
    const disk = startTinyDisk();
    onTestFinished(() => disk.end());
    const directory = giveFolder(join(disk.path, "in"));
    const target = createSftpTarget(site.options({ directory }));
    const delivery = deliveryOf([fileOf("large.xml", Buffer.alloc(3_000_000, "x"))]);
    const outcome = await target.deliver(delivery, never);
    expect(outcome).toMatchObject({ fault: "noSpace", isPermanent: false, scope: "target" });
    expect(readdirSync(directory)).toEqual([]);
    await disk.grow();
    expect(faultOf(await target.deliver(delivery, never))).toBe("delivered");
    await target.close();
  });
});
