/** Real clients of a site: OpenSSH `sftp` and `scp`, lftp, curl, and plain HTTP. */
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { company, type Site, user } from "./daemon.ts";
import { type ProgramResult, type RunOptions, runProgram } from "./run-program.ts";
import { patienceMs } from "./wait-for.ts";

export interface SshOptions {
  readonly userName?: string;
  /** Signs in with this password instead of the key. */
  readonly password?: string;
  /** Further options of the program. */
  readonly more?: readonly string[];
  readonly run?: RunOptions;
}

/** Options of OpenSSH programs; without a password they sign in with the key. */
export function sshSettings(site: Site, password: string | undefined): string[] {
  const signIn =
    password === undefined
      ? { BatchMode: "yes", IdentityFile: site.keyFile, PreferredAuthentications: "publickey" }
      : { BatchMode: "no", PreferredAuthentications: "password", NumberOfPasswordPrompts: "1" };
  const settings = {
    UserKnownHostsFile: site.knownHostsFile,
    GlobalKnownHostsFile: "/dev/null",
    StrictHostKeyChecking: "yes",
    IdentitiesOnly: "yes",
    IdentityAgent: "none",
    ConnectTimeout: "20",
    ...signIn,
  };
  // No file of the person who runs the tests plays a part.
  return ["-F", "none", ...Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`])];
}

async function environmentFor(site: Site, password: string | undefined): Promise<NodeJS.ProcessEnv> {
  return password === undefined ? process.env : await site.askPass(password);
}

/** Runs OpenSSH's `sftp` with these commands in the clients' folder; it ends at the first that fails, unless `-` is before it. */
export async function sftp(
  site: Site,
  commands: readonly string[],
  options: SshOptions = {},
): Promise<ProgramResult> {
  const { userName = user, password, more = [], run } = options;
  const batch = join(site.folder, `batch-${randomBytes(4).toString("hex")}`);
  await writeFile(batch, `${commands.join("\n")}\n`);
  const settings = sshSettings(site, password);
  const args = [...more, ...settings, "-P", String(site.sftpPort), "-b", batch, `${userName}@127.0.0.1`];
  const env = await environmentFor(site, password);
  return await runProgram("sftp", args, { cwd: site.client, env, ...run });
}

/** Copies with OpenSSH's `scp`; `:` before a path means that of the server. */
export async function scp(site: Site, paths: readonly string[], more: readonly string[] = []) {
  const args = [...more, ...sshSettings(site, undefined), "-P", String(site.sftpPort)];
  const full = paths.map((path) => (path.startsWith(":") ? `${user}@127.0.0.1${path}` : path));
  return await runProgram("scp", [...args, ...full], { cwd: site.client });
}

/** Runs lftp with these commands, signed in with the password. */
export async function lftp(site: Site, commands: readonly string[], run: RunOptions = {}) {
  // lftp puts user, port and subsystem behind; the password goes through its own terminal.
  const ssh = `ssh -a -x -F none -o UserKnownHostsFile=${site.knownHostsFile} -o StrictHostKeyChecking=yes -o PreferredAuthentications=password -o IdentityAgent=none`;
  const set = [`set sftp:connect-program "${ssh}"`, "set net:max-retries 1", "set net:timeout 20"];
  const open = `open -u ${user},${site.password} -p ${site.sftpPort} sftp://127.0.0.1`;
  const script = [...set, open, ...commands, "quit"].join("; ");
  return await runProgram("lftp", ["--norc", "-c", script], { cwd: site.client, ...run });
}

/** Runs curl, signed in with the password unless another is given. */
export async function curl(
  site: Site,
  args: readonly string[],
  signIn: { readonly userName?: string; readonly password?: string } = {},
): Promise<ProgramResult> {
  const { userName = user, password = site.password } = signIn;
  const all = ["-sS", "--max-time", "30", "--user", `${userName}:${password}`, ...args];
  return await runProgram("curl", all, { cwd: site.client });
}

/** Arguments for curl to talk SFTP to the site, with its host key checked. */
export function curlSftp(site: Site): readonly string[] {
  return ["-k", "--pubkey", `${site.keyFile}.pub`];
}

export interface HttpReply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

export interface HttpAsk {
  readonly method?: string;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly type?: string;
  readonly userName?: string;
  readonly password?: string;
}

/** One request, signed in as the site's user unless others are named. */
export async function http(site: Site, path: string, ask: HttpAsk = {}): Promise<HttpReply> {
  const { method = ask.body === undefined ? "GET" : "POST", body, type, userName = user } = ask;
  const { password = site.password } = ask;
  const headers: Record<string, string> = {
    authorization: `Basic ${Buffer.from(`${userName}:${password}`).toString("base64")}`,
    connection: "close",
  };
  if (type !== undefined) headers["content-type"] = type;
  const init = {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
    signal: AbortSignal.timeout(patienceMs),
  };
  const answer = await fetch(`${site.http}${path}`, init);
  return { status: answer.status, headers: answer.headers, body: await answer.text() };
}

/** The fields of a stop that tests look at. */
export interface StopDetail {
  readonly stopNbr: string;
  /** That of the execution info. */
  readonly stopStatus: string;
  readonly to?: {
    readonly address?: Readonly<Record<string, unknown>>;
    readonly schedule?: Readonly<Record<string, unknown>>;
  };
  readonly stopDetails?: readonly Readonly<Record<string, unknown>>[];
  readonly [name: string]: unknown;
}

/** The stop as GET shows it, undefined when there is none. */
export async function getStop(site: Site, stopNbr: string): Promise<StopDetail | undefined> {
  const reply = await http(site, `/v5/stop/info/${stopNbr}/${company}`);
  if (reply.status === 404) return undefined;
  if (reply.status !== 200) throw new Error(`GET stop answered ${reply.status}: ${reply.body}`);
  const { Stop } = JSON.parse(reply.body) as {
    Stop: { stop: Omit<StopDetail, "stopStatus">; stopExecutionInfo: { stopStatus: string } };
  };
  return { ...Stop.stop, stopNbr, stopStatus: Stop.stopExecutionInfo.stopStatus };
}

export async function importPartner(site: Site, partnerCode: string): Promise<HttpReply> {
  const body = JSON.stringify({
    companyCode: company,
    businessPartners: [{ partnerCode, partnerName: `Carrier ${partnerCode}` }],
  });
  return await http(site, `/v5/businesspartner/update/${company}`, { body, type: "application/json" });
}
