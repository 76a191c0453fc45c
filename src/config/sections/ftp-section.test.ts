import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { loadConfig } from "../load-config.ts";

let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "dropgate-ftp-config-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The faults of a configuration, `path: message`. */
async function faultsOf(settings: object): Promise<string[]> {
  const path = join(folder, "dropgate.yaml");
  writeFileSync(path, JSON.stringify(settings));
  const outcome = await loadConfig({ path, env: {}, cwd: folder });
  return outcome.kind === "faulty" ? outcome.faults.map((fault) => `${fault.path}: ${fault.message}`) : [];
}

const tls = { certFile: "cert.pem", keyFile: "key.pem" };

describe("the section ftp", () => {
  test("is off, and its rules with it", async () => {
    expect(await faultsOf({})).toEqual([]);
    expect(await faultsOf({ ftp: { port: 8080 } })).toEqual([]);
  });

  test("needs a certificate or plain FTP to be allowed", async () => {
    expect(await faultsOf({ ftp: { enabled: true } })).toEqual([
      expect.stringMatching(/^ftp\.enabled: .*ftp\.tls/),
    ]);
    expect(await faultsOf({ ftp: { enabled: true, allowPlain: true } })).toEqual([]);
    expect(await faultsOf({ ftp: { enabled: true, tls } })).toEqual([]);
    expect(await faultsOf({ ftp: { enabled: true, allowPlain: true, implicitPort: 990 } })).toEqual([
      expect.stringMatching(/^ftp\.implicitPort: .*certificate/),
    ]);
  });

  test.each([
    [{ port: 8080 }, "ftp.port: is 8080, and so is http.port; take another"],
    [{ port: 2222 }, "ftp.port: is 2222, and so is sftp.port; take another"],
    [{ implicitPort: 2121 }, "ftp.implicitPort: is 2121, and so is ftp.port; take another"],
  ])("%j clashes", async (ports, fault) => {
    expect(await faultsOf({ ftp: { enabled: true, tls, ...ports } })).toEqual([fault]);
  });

  test("ports on different addresses, and any free ports, do not clash", async () => {
    expect(await faultsOf({ http: { host: "127.0.0.2" }, ftp: { enabled: true, tls, port: 8080 } })).toEqual(
      [],
    );
    expect(await faultsOf({ ftp: { enabled: true, tls, port: 0, implicitPort: 0 } })).toEqual([]);
  });

  test("takes a range of ports for data, from below to above, without a port that is listened on", async () => {
    const withPorts = (from: number, to: number) =>
      faultsOf({ ftp: { enabled: true, tls, passivePorts: { from, to } } });
    expect(await withPorts(50_000, 50_000)).toEqual([]);
    expect(await withPorts(50_001, 50_000)).toEqual([
      expect.stringMatching(/^ftp\.passivePorts\.from: .*swap/),
    ]);
    expect(await withPorts(2_000, 3_000)).toEqual([
      expect.stringMatching(/^ftp\.passivePorts: has the port of sftp\.port/),
    ]);
  });

  test.each([
    ["192.0.2.7", true],
    ["255.255.255.255", true],
    ["192.0.2.256", false],
    ["example.com", false],
    ["2001:db8::1", false],
  ])("publicAddress %s: %s", async (publicAddress, isRight) => {
    const faults = await faultsOf({ ftp: { publicAddress } });
    expect(faults.length === 0).toBe(isRight);
  });
});
