import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, createSecureContext, createServer as createTlsServer, getCiphers } from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import { tlsSettings } from "./tls-settings.ts";

let folder: string;
const keyKinds = {
  rsa: ["-newkey", "rsa:2048"],
  ec: ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"],
} as const;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tls-settings-"));
  for (const [kind, newKey] of Object.entries(keyKinds)) {
    const files = ["-keyout", join(folder, `${kind}.key`), "-out", join(folder, `${kind}.pem`)];
    const subject = ["-nodes", "-days", "2", "-subj", "/CN=localhost"];
    execFileSync("openssl", ["req", "-x509", ...newKey, ...subject, ...files], { stdio: "ignore" });
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

async function listening(kind: keyof typeof keyKinds, legacyCiphers: boolean): Promise<Server> {
  const textOf = (ending: string) => readFileSync(join(folder, `${kind}.${ending}`), "utf8");
  const [key, cert] = [textOf("key"), textOf("pem")];
  const settings = tlsSettings({ key, cert, minVersion: "TLSv1.2", legacyCiphers });
  const server = createTlsServer(settings, (socket) => socket.end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

/** The suite that is agreed on with a client that offers these, undefined when there is none. */
function agreed(server: Server, ciphers: string): Promise<string | undefined> {
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve) => {
    const options = { port, host: "127.0.0.1", rejectUnauthorized: false, maxVersion: "TLSv1.2" } as const;
    const socket = connect({ ...options, ciphers }, () => {
      resolve(socket.getCipher().standardName);
      socket.destroy();
    });
    socket.on("error", () => resolve(undefined));
  });
}

/** Every suite of TLS 1.2 that a client of this OpenSSL can offer, however weak. */
function allSuites(): readonly string[] {
  return getCiphers().filter((name) => {
    if (name.startsWith("tls_")) return false;
    try {
      createSecureContext({ ciphers: `${name.toUpperCase()}:@SECLEVEL=0` });
      return true;
    } catch {
      return false;
    }
  });
}

async function takenOf(kind: keyof typeof keyKinds, legacyCiphers: boolean): Promise<string[]> {
  const server = await listening(kind, legacyCiphers);
  const taken: string[] = [];
  for (const name of allSuites()) {
    if ((await agreed(server, `${name.toUpperCase()}:@SECLEVEL=0`)) !== undefined) taken.push(name);
  }
  server.close();
  return taken.sort();
}

test.each(["rsa", "ec"] as const)(
  "under TLS 1.2 with a key of %s only suites with forward secrecy and authenticated encryption are taken",
  async (kind) => {
    const exchange = kind === "rsa" ? "ecdhe-rsa" : "ecdhe-ecdsa";
    expect(await takenOf(kind, false)).toEqual([
      `${exchange}-aes128-gcm-sha256`,
      `${exchange}-aes256-gcm-sha384`,
      `${exchange}-chacha20-poly1305`,
    ]);
  },
);

test("legacy suites are taken when that is set, never before a better one, and never broken ones", async () => {
  const taken = await takenOf("rsa", true);
  expect(taken).toEqual(expect.arrayContaining(["aes128-sha", "aes256-sha256", "ecdhe-rsa-aes128-sha"]));
  expect(taken.filter((name) => /null|rc4|des|md5|anon|adh|psk|exp/.test(name))).toEqual([]);
  const server = await listening("rsa", true);
  const chosen = await agreed(server, "AES256-SHA:ECDHE-RSA-AES256-SHA:ECDHE-RSA-AES128-GCM-SHA256");
  expect(chosen).toBe("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256");
  server.close();
});
