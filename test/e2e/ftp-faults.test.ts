/** FTP: what is refused, order and once, many files, clients and daemons that end in the middle. */
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { getStop, http } from "../support/clients.ts";
import { company, Site } from "../support/daemon.ts";
import {
  type CertificateFiles,
  curlFtp,
  type FtpMode,
  ftpSettings,
  lftpFtp,
  makeCertificateFiles,
  withBasicFtp,
} from "../support/ftp-clients.ts";
import { isInstalled } from "../support/run-program.ts";
import {
  codesOf,
  filedIn,
  receiptFor,
  receiptName,
  type StopFile,
  stopFile,
  waitingIn,
  writeLocally,
} from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";
import { amount } from "../support/sampled.ts";

const hasClients = isInstalled("curl") && isInstalled("lftp");

let certificate: CertificateFiles;
let site: Site;

beforeAll(() => {
  certificate = makeCertificateFiles();
});
afterAll(() => certificate.remove());
afterEach(() => site.end());

async function startSite(
  ftp: Parameters<typeof ftpSettings>[1] = {},
  more: Parameters<typeof Site.make>[0] = {},
) {
  site = await Site.make({ ftp: ftpSettings(certificate, ftp), ...more });
  await site.start();
}

const at = (mode: FtpMode, password?: string) => ({
  certFile: certificate.certFile,
  mode,
  ...(password === undefined ? {} : { password }),
});

async function verify(): Promise<void> {
  const report = await site.json<{ discrepancies: unknown[] }>("ledger", "verify");
  expect(report.discrepancies).toEqual([]);
}

/** Puts it over explicit TLS and gives its receipt. */
async function send(file: StopFile) {
  await writeLocally(site, [file]);
  const put = await curlFtp(site, "/inbound/", ["-T", file.name], at("explicit"));
  expect(put.exitCode, put.output).toBe(0);
  return await receiptFor(site, file.name);
}

describe.skipIf(!hasClients)("what is refused", () => {
  test("sign-in and files without TLS, unless it is allowed", async () => {
    await startSite();
    const file = stopFile("P100");
    await writeLocally(site, [file]);
    const plain = await curlFtp(site, "/inbound/", ["-v", "-T", file.name], at("plain"));
    expect(plain.exitCode).toBe(67);
    expect(plain.output).toContain("530 Sign-in needs TLS: send AUTH TLS first");
    // Curl asks for clear data connections, is refused, and tries all the same.
    const inClear = ["-v", "--ftp-ssl-control", "--cacert", certificate.certFile];
    const clear = await curlFtp(site, "/inbound/", [...inClear, "-T", file.name], at("plain"));
    expect(clear.exitCode).not.toBe(0);
    expect(clear.output).toMatch(/534 Data connections need TLS here/);
    expect(clear.output).toMatch(/522 Data connections have to be protected/);
    expect(await waitingIn(site)).toEqual([]);
    expect(await send(file)).toMatchObject({ status: 10 });
  });

  test("wrong passwords, which count together with those over HTTP, and end in a ban", async () => {
    const bans = { maxScore: 4, banMs: 60_000, windowMs: 600_000 };
    await startSite({}, { security: { wrongPasswordDelayMs: 100, bans } });
    const wrong = await curlFtp(site, "/", [], at("explicit", "wrong-1"));
    expect(wrong.exitCode).toBe(67);
    expect((await curlFtp(site, "/", [], at("implicit", "wrong-2"))).exitCode).toBe(67);
    expect((await curlFtp(site, "/", [], at("explicit"))).exitCode).toBe(0);
    const path = `/v5/stop/info/NONE/${company}`;
    await http(site, path, { password: "wrong-3" });
    await http(site, path, { password: "wrong-4" });
    const banned = await curlFtp(site, "/", ["-v"], at("explicit"));
    expect(banned.exitCode).not.toBe(0);
    expect(banned.output).not.toContain("220 ");
    expect((await http(site, path)).status).toBe(429);
  });

  test("data connections that do not resume the TLS session, where that is required; real clients do", async () => {
    await startSite({ requireSessionReuse: true });
    const files = [stopFile("R100"), stopFile("R101"), stopFile("R102")];
    await writeLocally(site, files);
    const [first, second, third] = files.map(({ name }) => name);
    const explicit = await curlFtp(site, "/inbound/", ["-T", first ?? ""], at("explicit"));
    expect(explicit.exitCode, explicit.output).toBe(0);
    await withBasicFtp(site, { cert: certificate.cert, mode: "explicit" }, (client) =>
      client.uploadFrom(`${site.client}/${second}`, `/inbound/${second}`),
    );
    await withBasicFtp(site, { cert: certificate.cert, mode: "implicit" }, (client) =>
      client.uploadFrom(`${site.client}/${third}`, `/inbound/${third}`),
    );
    for (const { name } of files) expect(await receiptFor(site, name)).toMatchObject({ status: 10 });
    const without = await curlFtp(site, "/inbound/", ["--no-sessionid", "-T", first ?? ""], at("explicit"));
    expect(without.exitCode).not.toBe(0);
  });

  test("a configuration with which nobody could sign in, and ports that clash", async () => {
    site = await Site.make({});
    await site.reconfigure({ ftp: { enabled: true } });
    expect((await site.cli("serve")).output).toMatch(/ftp\.enabled.*ftp\.tls.*ftp\.allowPlain/);
    await site.reconfigure({ ftp: { enabled: true, allowPlain: true, port: 2990, implicitPort: 2990 } });
    const clash = await site.cli("serve");
    expect(clash.exitCode).toBe(2);
    expect(clash.output).toMatch(/ftp\.implicitPort.*2990.*ftp\.port/);
    expect(clash.output).toMatch(/ftp\.implicitPort.*certificate/);
    await site.reconfigure({ ftp: { enabled: true, tls: { certFile: "none.pem", keyFile: "none.pem" } } });
    const noFile = await site.cli("check");
    expect(noFile.output).toMatch(/FTPS cannot be used: ftp\.tls\.certFile .*none\.pem cannot be read/);
  });
});

describe.skipIf(!hasClients)("order and once, as over SFTP", () => {
  test("a newer file wins, an older one is superseded, the same one again is answered with the first receipt", async () => {
    await startSite();
    const sealed = (seal: string) => `<SealNbr>${seal}</SealNbr>`;
    const file = stopFile("O100", { time: "090000", more: sealed("NEW") });
    const first = await send(file);
    expect(codesOf(await send(stopFile("O100", { time: "080000", more: sealed("OLD") })))).toEqual([954]);
    expect(await getStop(site, "O100")).toMatchObject({ sealNbr: "NEW" });
    const receipt = `/receipts/${receiptName(file.name)}`;
    const remove = await curlFtp(site, "/", ["-Q", `DELE ${receipt}`], at("explicit"));
    expect(remove.exitCode, remove.output).toBe(0);
    expect(await send(file)).toEqual(first);
    await verify();
  });

  test("many files in one session are applied, each once", async () => {
    // Each file is a few syncs: minutes on a slow disk.
    await startSite();
    const files = Array.from({ length: amount(120, 2_000) }, (_, index) => stopFile(`F${index}`));
    await writeLocally(site, files);
    const put = await lftpFtp(site, ["set ftp:use-mdtm no", "mput -O /inbound *.xml"], {
      ...at("explicit"),
      run: { timeoutMs: 900_000 },
    });
    expect(put.exitCode, put.output.slice(-2_000)).toBe(0);
    const archived = await waitFor(
      "all files in the archive",
      async () => {
        const names = await filedIn(site, "archive");
        return names.length >= files.length && names;
      },
      300_000,
    );
    expect(archived).toEqual(files.map(({ name }) => name).sort());
    expect(await waitingIn(site)).toEqual([]);
    await verify();
  }, 1_200_000);
});

describe.skipIf(!hasClients)("a client that is killed in the middle", () => {
  test("never leaves a file, without TLS and with it, many times over", async () => {
    await startSite({ allowPlain: true });
    const filling = (): string => `<!-- ${randomBytes(600_000).toString("base64")} -->`;
    const files = Array.from({ length: amount(12, 24) }, (_, index) =>
      stopFile(`K${index}`, { more: filling() }),
    );
    await writeLocally(site, files);
    const children = new Map<string, ChildProcess>();
    const puts = files.map(({ name }, nth) =>
      curlFtp(site, "/inbound/", ["--limit-rate", "200k", "-T", name], {
        ...at(nth % 2 === 0 ? "plain" : "explicit"),
        run: { onStart: (child) => void children.set(name, child) },
      }),
    );
    const parts = async () =>
      (await readdir(site.path("inbound", ".partial"), { recursive: true })).filter((each) =>
        each.endsWith(".xml"),
      );
    await waitFor("all of them under way", async () => (await parts()).length === files.length);
    for (const child of children.values()) {
      child.kill("SIGKILL");
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    await Promise.all(puts);
    await waitFor(
      "all of them broken off",
      () => site.daemon.log.filter(({ msg }) => msg === "upload interrupted").length === files.length,
    );
    expect(site.daemon.log.filter(({ msg }) => msg === "uploaded")).toEqual([]);
    expect(await parts()).toHaveLength(files.length);
    expect(await site.json<unknown[]>("files")).toEqual([]);
    expect(await send(stopFile("K99"))).toMatchObject({ status: 10 });
  });
});

describe.skipIf(!hasClients)("a daemon that is stopped during an upload", () => {
  async function uploadSlowly(file: StopFile, kilobytes: number) {
    await writeLocally(site, [file]);
    const put = curlFtp(
      site,
      "/inbound/",
      ["--limit-rate", `${kilobytes}k`, "-T", file.name],
      at("explicit"),
    );
    await site.daemon.waitForLog(({ msg }) => msg === "ftp signed in");
    await waitFor("a part", async () => {
      const all = await readdir(site.path("inbound", ".partial"), { recursive: true });
      return all.some((each) => each.endsWith(file.name));
    });
    return put;
  }

  const big = (stopNbr: string): StopFile =>
    stopFile(stopNbr, { more: `<!-- ${randomBytes(900_000).toString("base64")} -->` });

  test("lets it come to its end", async () => {
    await startSite();
    const file = big("D100");
    const put = uploadSlowly(file, 600);
    await waitFor(
      "the upload",
      async () => (await readdir(site.path("inbound", ".partial"), { recursive: true })).length > 1,
    );
    await site.stop();
    const result = await put;
    expect(result.exitCode, result.output).toBe(0);
    await site.start();
    expect(await receiptFor(site, file.name)).toMatchObject({ status: 10 });
    await verify();
  });

  test("or cuts it at its deadline: it is no file, and can be continued", async () => {
    await startSite({}, { shutdown: { drainMs: 500 } });
    const file = big("D110");
    const put = uploadSlowly(file, 300);
    await waitFor(
      "the upload",
      async () => (await readdir(site.path("inbound", ".partial"), { recursive: true })).length > 1,
    );
    await site.stop();
    expect((await put).exitCode).not.toBe(0);
    await site.start();
    expect(await site.json<unknown[]>("files")).toEqual([]);
    const again = await curlFtp(site, "/inbound/", ["-C", "-", "-T", file.name], at("explicit"));
    expect(again.exitCode, again.output).toBe(0);
    expect(await receiptFor(site, file.name)).toMatchObject({ status: 10, records: [1, 0, 0] });
    await verify();
  });
});

test("FTP is off by default, and metrics count its connections when it is on", async () => {
  site = await Site.make({});
  await site.start();
  expect(Number.isNaN(site.ftpPort)).toBe(true);
  expect((await http(site, "/metrics")).body).not.toContain('endpoint="ftp"');
  await site.stop();
  await site.reconfigure({ ftp: ftpSettings(certificate) });
  await site.start();
  await withBasicFtp(site, { cert: certificate.cert, mode: "explicit" }, async () => {
    expect((await http(site, "/metrics")).body).toContain('dropgate_connections{endpoint="ftp"} 1');
  });
});
