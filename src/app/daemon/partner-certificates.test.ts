import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { loadConfig } from "../../config/load-config.ts";
import { createPartnerCertificates, type PartnerCertificate } from "./partner-certificates.ts";

/** A configuration whose alerts have a client certificate, and that file. */
async function made() {
  const dir = temporaryFolder();
  const [cert, key] = [join(dir, "client.pem"), join(dir, "client.key")];
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=client"];
  execFileSync("openssl", ["req", "-x509", ...newKey, "-keyout", key, "-out", cert], { stdio: "ignore" });
  const path = join(dir, "dropgate.yaml");
  const https = { url: "https://pager.example.com/", certificate: cert, privateKey: key };
  writeFileSync(path, JSON.stringify({ alerts: { https } }));
  const load = async () => {
    const loaded = await loadConfig({ path, env: {}, cwd: "/" });
    if (loaded.kind === "faulty") throw new Error(JSON.stringify(loaded.faults));
    return loaded.config;
  };
  return { cert, load };
}

const isReadable = (all: readonly PartnerCertificate[]) => all.map(({ found }) => "expiresAt" in found);

test("certificates are read anew after a while and after a reload, and not at each look", async () => {
  const { cert, load } = await made();
  let config = await load();
  const companyCodes = async () => [];
  const lately = createPartnerCertificates({ config: () => config, companyCodes });
  const atOnce = createPartnerCertificates({ config: () => config, companyCodes, maxAgeMs: 0 });
  expect(isReadable(await lately())).toEqual([true]);
  expect(isReadable(await atOnce())).toEqual([true]);
  rmSync(cert);
  expect(isReadable(await lately())).toEqual([true]);
  expect(isReadable(await atOnce())).toEqual([false]);
  config = await load();
  expect(isReadable(await lately())).toEqual([false]);
});

test("a file that does not answer is waited for once and not for ever, and what it says later counts", async () => {
  const { cert, load } = await made();
  const config = await load();
  const text = readFileSync(cert);
  rmSync(cert);
  // Reading from it waits until somebody writes.
  execFileSync("mkfifo", [cert]);
  const companyCodes = async () => [];
  const read = createPartnerCertificates({ config: () => config, companyCodes, waitMs: 50 });
  await expect(read()).rejects.toThrow("do not answer");
  await expect(read()).rejects.toThrow("do not answer");
  writeFileSync(cert, text);
  await expect.poll(async () => isReadable(await read().catch(() => []))).toEqual([true]);
});
