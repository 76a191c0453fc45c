/** The FTP target against vsftpd, which demands that data connections go on with the TLS session. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
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
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createFtpTarget, type FtpTargetOptions } from "../support/server-targets.ts";
import { type Authority, type Certificate, makeAuthority } from "../support/certificates.ts";
import { deliveryOf, faultOf, fileOf, messageOf, never } from "../support/deliveries.ts";
import { filesBelow } from "../support/files-below.ts";
import { ftpPassword, type FtpServer, type FtpServerOptions, startFtpServer } from "../support/ftp-server.ts";
import { isInstalled } from "../support/run-program.ts";
import {
  describeNetworkFaults,
  describeTarget,
  type Network,
  type TargetSite,
  testTimes,
} from "../support/target-conformance.ts";
import { mayMount, startTinyDisk } from "../support/tiny-disk.ts";

const isRoot = process.getuid?.() === 0;
const hasServer = isInstalled("vsftpd") && isInstalled("openssl") && isRoot;

interface FtpSite extends TargetSite {
  readonly network: Network;
  readonly server: FtpServer;
  readonly authority: Authority;
  readonly certificate: Certificate;
  readonly folder: string;
  readonly inbox: string;
  options(more?: Partial<FtpTargetOptions>): FtpTargetOptions;
}

function giveFolder(path: string): string {
  mkdirSync(path, { recursive: true });
  execFileSync("chown", ["daemon", path]);
  return path;
}

async function openSite(security: FtpServerOptions["security"] = "explicit"): Promise<FtpSite> {
  const folder = mkdtempSync(join(tmpdir(), "dropgate-ftp-"));
  chmodSync(folder, 0o755);
  const authority = await makeAuthority(folder);
  const certificate = await authority.issue("server");
  const server = await startFtpServer(join(folder, "server"), { certificate, security });
  const inbox = giveFolder(join(server.root, "in"));
  const options = (more: Partial<FtpTargetOptions> = {}): FtpTargetOptions => ({
    host: "127.0.0.1",
    port: server.port,
    security,
    user: server.user,
    password: ftpPassword,
    ca: authority.ca,
    directory: "in",
    connections: 3,
    ...testTimes,
    ...more,
  });
  return {
    server,
    authority,
    certificate,
    folder,
    inbox,
    options,
    target: () => createFtpTarget(options()),
    wrongCredentials: () => createFtpTarget(options({ password: "guess" })),
    files: async () => filesBelow(inbox),
    put: async (name, bytes) => writeFileSync(join(inbox, name), bytes),
    clear: async () => {
      for (const name of readdirSync(inbox)) rmSync(join(inbox, name), { recursive: true });
    },
    network: {
      port: server.port,
      targetAt: (port, times) => createFtpTarget(options({ port, ...times })),
      midwayBytes: 100,
      slowMs: 150,
    },
    end: async () => {
      await server.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

describe.skipIf(!hasServer)("the FTP target and vsftpd (as root)", () => {
  describeTarget("ftps, explicit", openSite, { hasNames: true, hasCredentials: true });
  describeNetworkFaults("ftps, explicit", openSite);
  describeTarget("ftps, implicit", () => openSite("implicit"), { hasNames: true, hasCredentials: true });
  describeTarget("plain ftp", () => openSite("plain"), { hasNames: true, hasCredentials: true });

  let site: FtpSite;
  beforeAll(async () => {
    site = await openSite();
  });
  afterAll(() => site.end());

  async function once(more: Partial<FtpTargetOptions>) {
    const target = createFtpTarget(site.options(more));
    try {
      return await target.deliver(deliveryOf([fileOf("once.xml", "once")]), never);
    } finally {
      await target.close();
    }
  }

  test("files and folders get the mode that the server gives", async () => {
    const target = createFtpTarget(site.options());
    onTestFinished(() => target.close());
    const files = [fileOf("modes.xml", "a"), fileOf("manifest.xml", "m")];
    const delivery = deliveryOf(files, { directory: "night-1" });
    expect(faultOf(await target.deliver(delivery, never))).toBe("delivered");
    const modeOf = (name: string) => statSync(join(site.inbox, name)).mode & 0o7777;
    // What vsftpd's anon_umask=022 leaves.
    expect(["night-1", "night-1/modes.xml", "night-1/manifest.xml"].map(modeOf)).toEqual([
      ...[0o755, 0o644, 0o644],
    ]);
  });

  async function withCertificate(certificate: Certificate, more: Partial<FtpTargetOptions> = {}) {
    const server = await startFtpServer(join(site.folder, certificate.fingerprint.slice(0, 8)), {
      certificate,
    });
    onTestFinished(() => server.end());
    giveFolder(join(server.root, "in"));
    const outcome = await once({ port: server.port, ...more });
    return outcome;
  }

  test.each([
    ["expired", { days: -1 }, "has expired"],
    ["self-signed", { isSelfSigned: true }, "signed by itself"],
    ["foreign", { names: "DNS:elsewhere.example" }, "another name"],
  ])("a certificate that is %s: nothing is sent", async (name, options, words) => {
    const outcome = await withCertificate(await site.authority.issue(name, options));
    expect(outcome).toMatchObject({ fault: "identity", isPermanent: false, scope: "target" });
    expect(messageOf(outcome)).toContain(words);
  });

  test("a certificate of an authority that is not trusted: nothing is sent, whatever the environment says", async () => {
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
    onTestFinished(() => void delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"]);
    const folder = join(site.folder, "others");
    mkdirSync(folder);
    const other = await makeAuthority(folder);
    expect(faultOf(await once({ ca: other.ca }))).toBe("identity");
  });

  test("a pinned certificate is trusted whoever signed it and whatever its name is, and no other", async () => {
    const own = await site.authority.issue("pinned", { isSelfSigned: true, names: "DNS:elsewhere.example" });
    const foreign = await site.authority.issue("foreign2", { names: "DNS:elsewhere.example" });
    for (const certificate of [own, foreign]) {
      const certificateFingerprint = certificate.fingerprint.toLowerCase();
      expect(faultOf(await withCertificate(certificate, { certificateFingerprint }))).toBe("delivered");
    }
    const outcome = await once({ certificateFingerprint: own.fingerprint });
    expect(outcome).toMatchObject({ fault: "identity", isPermanent: false, scope: "target" });
    expect(messageOf(outcome)).toContain(site.certificate.fingerprint);
  });

  test("a server that has no TLS gets no password", async () => {
    const { certificate } = site;
    const server = await startFtpServer(join(site.folder, "clear"), { certificate, security: "plain" });
    onTestFinished(() => server.end());
    const outcome = await once({ port: server.port });
    expect(outcome).toMatchObject({ fault: "configuration", isPermanent: false, scope: "target" });
    expect(messageOf(outcome)).toContain("takes no TLS");
  });

  test("a server that insists on TLS is not signed in to in the clear", async () => {
    const outcome = await once({ security: "plain" });
    expect(outcome).toMatchObject({ fault: "configuration", isPermanent: false, scope: "target" });
    expect(messageOf(outcome)).toContain("encryption");
  });

  test("a missing folder is a fault, unless it is to be made", async () => {
    const outcome = await once({ directory: "in/deep/er" });
    expect(outcome).toMatchObject({ fault: "missingFolder", isPermanent: false, scope: "target" });
    expect(messageOf(outcome)).toContain("in/deep/er");
    expect(faultOf(await once({ directory: "in/deep/er", makeFolders: true }))).toBe("delivered");
    expect(readFileSync(join(site.inbox, "deep/er/once.xml"), "utf8")).toBe("once");
    expect(faultOf(await once({ directory: "/in/deep/er" }))).toBe("delivered");
  });

  test("a folder without the right to write: permanent, and said", async () => {
    mkdirSync(join(site.server.root, "read-only"));
    const outcome = await once({ directory: "read-only" });
    expect(outcome).toMatchObject({ fault: "notAllowed", isPermanent: true, scope: "target" });
    expect(messageOf(outcome)).toContain("right to write");
  });

  test("no right to rename: permanent, and said", async () => {
    const { certificate } = site;
    const server = await startFtpServer(join(site.folder, "strict"), { certificate, mayRename: false });
    onTestFinished(() => server.end());
    giveFolder(join(server.root, "in"));
    const outcome = await once({ port: server.port });
    expect(outcome).toMatchObject({ fault: "notAllowed", isPermanent: true, scope: "target" });
    expect(messageOf(outcome)).toContain("renaming");
  });

  test.skipIf(!mayMount)(
    "a full disk: told as what it may be, and with room it goes on and nothing is left",
    async () => {
      const disk = startTinyDisk();
      onTestFinished(() => disk.end());
      const mounted = join(site.inbox, "disk");
      mkdirSync(mounted);
      giveFolder(join(disk.path, "in"));
      execFileSync("mount", ["--bind", disk.path, mounted]);
      onTestFinished(() => void execFileSync("umount", ["-l", mounted]));
      const target = createFtpTarget(site.options({ directory: "in/disk/in" }));
      const delivery = deliveryOf([fileOf("large.xml", Buffer.alloc(3_000_000, "x"))]);
      const outcome = await target.deliver(delivery, never);
      // What comes first is chance: the end of the data connection or the reply that says why.
      expect(["noSpace", "connectionLost"], messageOf(outcome)).toContain(faultOf(outcome));
      expect(outcome).toMatchObject({ isPermanent: false, scope: "target" });
      expect(messageOf(outcome)).toContain("no space left");
      await disk.grow();
      const again = await target.deliver(delivery, never);
      await target.close();
      expect(faultOf(again)).toBe("delivered");
      expect(readdirSync(join(disk.path, "in"))).toEqual(["large.xml"]);
    },
  );
});
