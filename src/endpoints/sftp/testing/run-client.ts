import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestServer } from "./start-server.ts";

export interface ProgramResult {
  readonly exitCode: number;
  readonly output: string;
}

/** Runs a client program to its end; a minute is enough for every one of them. */
export function runProgram(program: string, args: readonly string[], cwd: string): Promise<ProgramResult> {
  return new Promise((resolve) => {
    execFile(program, args, { cwd, timeout: 60_000 }, (error, stdout, stderr) => {
      const exitCode = error === null ? 0 : Number(error.code ?? 255);
      resolve({ exitCode, output: `${stdout}${stderr}` });
    });
  });
}

export function isInstalled(program: string): boolean {
  return existsSync(`/usr/bin/${program}`) || existsSync(`/usr/local/bin/${program}`);
}

export interface UserKey {
  readonly file: string;
  /** Base64 of the public key in wire form. */
  readonly blob: string;
}

/** Makes a key pair with ssh-keygen in the client's folder. */
export async function makeUserKey(server: TestServer, type: string, bits?: number): Promise<UserKey> {
  const file = join(server.work, `key_${Math.random().toString(36).slice(2)}`);
  const size = bits === undefined ? [] : ["-b", String(bits)];
  await runProgram("ssh-keygen", ["-q", "-t", type, ...size, "-N", "", "-f", file], server.work);
  const made = await runProgram("cat", [`${file}.pub`], server.work);
  return { file, blob: made.output.split(" ")[1] ?? "" };
}

/** Options for OpenSSH's programs that check the server's key against the one it was started with. */
export async function sshOptions(server: TestServer, keyFile: string): Promise<string[]> {
  const knownHosts = join(server.work, "known_hosts");
  const { port } = server.endpoint;
  await writeFile(knownHosts, `[127.0.0.1]:${port} ${server.hostKey.publicLine}\n`);
  const settings = {
    UserKnownHostsFile: knownHosts,
    StrictHostKeyChecking: "yes",
    IdentitiesOnly: "yes",
    BatchMode: "yes",
    IdentityFile: keyFile,
    IdentityAgent: "none",
  };
  return Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
}

/** Runs OpenSSH's `sftp` with these commands. */
export async function runSftp(
  server: TestServer,
  keyFile: string,
  commands: readonly string[],
  more: readonly string[] = [],
): Promise<ProgramResult> {
  const batch = join(server.work, `batch-${Math.random().toString(36).slice(2)}`);
  await writeFile(batch, `${commands.join("\n")}\n`);
  const options = await sshOptions(server, keyFile);
  const args = [...more, ...options, "-P", String(server.endpoint.port), "-b", batch, "host@127.0.0.1"];
  return runProgram("sftp", args, server.work);
}
