import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { loadConfig } from "../../config/load-config.ts";
import { checkCertificates, checkPartnerCertificates } from "./check-certificates.ts";
import { dayMs, hourMs } from "../../lib/durations.ts";

interface Made {
  readonly cert: string;
  readonly key: string;
  readonly expiresAt: number;
}

function makeCertificate(dir: string, name: string, days: number): Made {
  const [cert, key] = [join(dir, `${name}.pem`), join(dir, `${name}.key`)];
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", String(days)];
  const names = ["-subj", `/CN=${name}`, "-keyout", key, "-out", cert];
  execFileSync("openssl", ["req", "-x509", ...newKey, ...names], { stdio: "ignore" });
  return { cert, key, expiresAt: Date.parse(new X509Certificate(readFileSync(cert)).validTo) };
}

async function configOf(dir: string, settings: object) {
  const path = join(dir, "dropgate.yaml");
  writeFileSync(path, JSON.stringify(settings));
  const loaded = await loadConfig({ path, env: {}, cwd: "/" });
  if (loaded.kind === "faulty") throw new Error(JSON.stringify(loaded.faults));
  return loaded.config;
}

function at(now: number): void {
  vi.useFakeTimers({ now, toFake: ["Date"] });
}

afterEach(() => {
  vi.useRealTimers();
});

describe("the certificates of the servers", () => {
  it.each([
    ["30 days before, nothing", 30 * dayMs, "ok", undefined, undefined],
    ["29 days before, soon", 30 * dayMs - 1, "warning", ": 29 days left", "renew it, then reload, soon"],
    ["7 days before, still soon", 7 * dayMs, "warning", ": 7 days left", "soon"],
    ["6 days before, this week", 7 * dayMs - 1, "warning", ": 6 days left", "this week"],
    ["a day before, still this week", dayMs, "warning", ": 1 day left", "this week"],
    ["on the last day, today", dayMs - 1, "warning", ": less than a day left", "today"],
    ["when it has expired, a problem", -1, "problem", "expired", "renew it, then reload"],
  ])("%s, with file, setting and day", async (_, left, status, what, remedy) => {
    const dir = temporaryFolder();
    const { cert, key, expiresAt } = makeCertificate(dir, "server", 90);
    const config = await configOf(dir, { http: { tls: { certFile: cert, keyFile: key } } });
    at(expiresAt - left);
    const [found, ...more] = await checkCertificates(config);
    expect(more).toEqual([]);
    expect(found?.status).toBe(status);
    expect(found?.what).toContain(`the certificate ${cert} (http.tls.certFile)`);
    expect(found?.what).toContain(new Date(expiresAt).toISOString());
    expect(found?.what).toContain(what ?? "valid until");
    expect(found?.remedy ?? "").toContain(remedy ?? "");
  });

  it("counts the certificate of the chain that expires first, and FTPS as well", async () => {
    const dir = temporaryFolder();
    const server = makeCertificate(dir, "server", 90);
    const intermediate = makeCertificate(dir, "intermediate", 5);
    writeFileSync(server.cert, readFileSync(server.cert, "utf8") + readFileSync(intermediate.cert, "utf8"));
    const tls = { certFile: server.cert, keyFile: server.key };
    const [found] = await checkCertificates(await configOf(dir, { ftp: { enabled: true, tls } }));
    expect(found?.status).toBe("warning");
    expect(found?.what).toContain(
      `(ftp.tls.certFile) is valid until ${new Date(intermediate.expiresAt).toISOString()}`,
    );
  });
});

describe("the certificates of targets and remotes", () => {
  async function found(dir: string, { client, ca }: { client: Made; ca: string }) {
    const tms = { type: "https", url: "https://tms.example.com/", certificate: client.cert };
    const targets = { tms: { ...tms, privateKey: client.key, ca } };
    const config = await configOf(dir, { companies: { ACME: { outbound: { targets } } } });
    return await checkPartnerCertificates(config, ["ACME"]);
  }

  it("says whose client certificate expires when, and that an expired one keeps from its server", async () => {
    const dir = temporaryFolder();
    const client = makeCertificate(dir, "client", 90);
    const given = { client, ca: makeCertificate(dir, "authority", 300).cert };
    at(client.expiresAt - 2 * dayMs);
    const [first, second] = await found(dir, given);
    const title = `the client certificate ${client.cert} of the target tms of ACME`;
    expect(first).toEqual({
      status: "warning",
      what: `${title} is valid until ${new Date(client.expiresAt).toISOString()}: 2 days left`,
      remedy: "get a new one, then reload, this week",
    });
    expect(second?.status).toBe("ok");
    at(client.expiresAt + hourMs);
    // The daemon works without this server.
    expect((await found(dir, given))[0]).toMatchObject({
      status: "warning",
      what: `${title} expired ${new Date(client.expiresAt).toISOString()}`,
    });
  });

  it("takes authorities as good while one of them is, and names a file without any", async () => {
    const dir = temporaryFolder();
    const client = makeCertificate(dir, "client", 90);
    const [old, young] = [makeCertificate(dir, "old", 3), makeCertificate(dir, "young", 80)];
    const ca = join(dir, "authorities.pem");
    writeFileSync(ca, readFileSync(old.cert, "utf8") + readFileSync(young.cert, "utf8"));
    expect((await found(dir, { client, ca })).map(({ status }) => status)).toEqual(["ok", "ok"]);
    writeFileSync(ca, readFileSync(old.cert));
    expect((await found(dir, { client, ca }))[1]?.what).toContain(
      `the authority ${ca} of the target tms of ACME is valid until ${new Date(old.expiresAt).toISOString()}`,
    );
    writeFileSync(ca, "nothing");
    expect((await found(dir, { client, ca }))[1]).toMatchObject({
      status: "warning",
      what: `the authority ${ca} of the target tms of ACME cannot be used: no certificate in PEM is in it`,
    });
  });

  it("looks at those by which alerts reach the operator as well", async () => {
    const dir = temporaryFolder();
    const client = makeCertificate(dir, "client", 5);
    const https = { url: "https://pager.example.com/", certificate: client.cert, privateKey: client.key };
    const config = await configOf(dir, { alerts: { https } });
    at(client.expiresAt - 2 * dayMs);
    expect(await checkPartnerCertificates(config, [])).toMatchObject([
      {
        status: "warning",
        what: expect.stringContaining(
          `${client.cert} of the target alerts.https of (operator) is valid until`,
        ),
      },
    ]);
  });
});
