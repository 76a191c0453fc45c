/** Real FTP clients of a site: curl, lftp, the classic `ftp` and basic-ftp. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AccessOptions, Client } from "basic-ftp";
import { makeCertificate } from "../../src/endpoints/ftp/testing/certificate.ts";
import { type Settings, type Site, user } from "./daemon.ts";
import { type ProgramResult, type RunOptions, runProgram } from "./run-program.ts";

/** A certificate for this machine, as files. */
export interface CertificateFiles {
  readonly cert: string;
  readonly certFile: string;
  readonly keyFile: string;
  remove(): void;
}

export function makeCertificateFiles(): CertificateFiles {
  const folder = mkdtempSync(join(tmpdir(), "dropgate-ftp-"));
  const { cert, key } = makeCertificate();
  const [certFile, keyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key, { mode: 0o600 });
  return { cert, certFile, keyFile, remove: () => rmSync(folder, { recursive: true }) };
}

/** The section `ftp` with explicit and implicit TLS. */
export function ftpSettings({ certFile, keyFile }: CertificateFiles, more: Settings = {}): Settings {
  return { enabled: true, implicitPort: 0, tls: { certFile, keyFile }, ...more };
}

/** How a client talks to the server. */
export type FtpMode = "plain" | "explicit" | "implicit";

export interface FtpClientOptions {
  readonly certFile: string;
  readonly mode: FtpMode;
  readonly userName?: string;
  readonly password?: string;
  readonly run?: RunOptions;
}

/** Runs curl; `path` is that of the server, and may be left out of `args` for uploads to it. */
export async function curlFtp(
  site: Site,
  path: string,
  args: readonly string[],
  options: FtpClientOptions,
): Promise<ProgramResult> {
  const { certFile, mode, userName = user, password = site.password, run } = options;
  const base = mode === "implicit" ? `ftps://127.0.0.1:${site.ftpsPort}` : `ftp://127.0.0.1:${site.ftpPort}`;
  const security = mode === "plain" ? [] : ["--cacert", certFile, "--ssl-reqd"];
  const all = ["-sS", "--max-time", "60", "--user", `${userName}:${password}`, ...security, ...args];
  return await runProgram("curl", [...all, `${base}${path}`], { cwd: site.client, ...run });
}

/** Runs lftp with these commands, signed in with the password. */
export async function lftpFtp(
  site: Site,
  commands: readonly string[],
  options: FtpClientOptions,
): Promise<ProgramResult> {
  const { certFile, mode, userName = user, password = site.password, run } = options;
  const settings = [
    `set ssl:ca-file ${certFile}`,
    "set ssl:check-hostname no",
    "set net:max-retries 1",
    "set net:timeout 20",
    mode === "plain" ? "set ftp:ssl-allow no" : "set ftp:ssl-force yes",
    "set ftp:ssl-protect-data yes",
  ];
  const url =
    mode === "implicit" ? `-p ${site.ftpsPort} ftps://127.0.0.1` : `-p ${site.ftpPort} ftp://127.0.0.1`;
  const script = [...settings, `open -u ${userName},${password} ${url}`, ...commands, "quit"].join("; ");
  return await runProgram("lftp", ["--norc", "-c", script], { cwd: site.client, ...run });
}

/** Runs the classic `ftp`, which knows no TLS, with these commands. It ends with 0 whatever happened. */
export async function classicFtp(site: Site, commands: readonly string[]): Promise<ProgramResult> {
  const input = [`user ${user} ${site.password}`, ...commands, "bye", ""].join("\n");
  return await runProgram("ftp", ["-n", "-i", "-v", "127.0.0.1", String(site.ftpPort)], {
    cwd: site.client,
    input,
  });
}

/** Runs with a client of basic-ftp that is signed in. */
export async function withBasicFtp<T>(
  site: Site,
  { cert, mode }: { readonly cert: string; readonly mode: FtpMode },
  run: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client(20_000);
  const secure = { explicit: true, implicit: "implicit", plain: false } as const;
  const access: AccessOptions = {
    host: "127.0.0.1",
    port: mode === "implicit" ? site.ftpsPort : site.ftpPort,
    user,
    password: site.password,
    secure: secure[mode],
    secureOptions: { ca: cert },
  };
  try {
    await client.access(access);
    return await run(client);
  } finally {
    client.close();
  }
}
