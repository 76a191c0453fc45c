/** OpenSSH's server for a test, with keys, folder and port of its own. */
import { readFileSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { runProgram } from "./run-program.ts";
import { freePort, startServer } from "./server-process.ts";

/** A user that every Debian has, without rights; the server of an ordinary user lets in only that one. */
export const serverUser = process.getuid?.() === 0 ? "daemon" : userInfo().username;

export interface SshServer {
  readonly port: number;
  readonly user: string;
  readonly privateKey: string;
  /** Of the host key that clients are shown first, and of the other one. */
  readonly fingerprints: readonly [string, string];
  end(): Promise<void>;
}

async function makeKey(path: string, type: string): Promise<string> {
  await runProgram("ssh-keygen", ["-q", "-t", type, "-N", "", "-f", path]);
  const { stdout } = await runProgram("ssh-keygen", ["-lf", `${path}.pub`]);
  return stdout.split(" ")[1] ?? "";
}

export interface SshServerOptions {
  /** Requests of SFTP that are refused, as in `rename`. */
  readonly refuses?: string;
  /** Of its sessions, as in `027`; that of the test otherwise. */
  readonly umask?: string;
  /** The same port again, with other host keys. */
  readonly port?: number;
}

/** Starts it; its files lie in the folder. */
export async function startSshServer(folder: string, options: SshServerOptions = {}): Promise<SshServer> {
  await mkdir(folder, { recursive: true });
  const port = options.port ?? (await freePort());
  const keys = [join(folder, "host-ed25519"), join(folder, "host-ecdsa")] as const;
  const fingerprints = [await makeKey(keys[0], "ed25519"), await makeKey(keys[1], "ecdsa")] as const;
  const userKey = join(folder, "user");
  await makeKey(userKey, "ed25519");
  // sshd of root wants this folder; a system that has never started its service does not have it.
  if (process.getuid?.() === 0) await mkdir("/run/sshd", { recursive: true });
  const refuses = options.refuses === undefined ? "" : ` -P ${options.refuses}`;
  const umask = options.umask === undefined ? "" : ` -u ${options.umask}`;
  const configuration = `Port ${port}
ListenAddress 127.0.0.1
HostKey ${keys[0]}
HostKey ${keys[1]}
PidFile none
AuthorizedKeysFile ${userKey}.pub
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
MaxStartups 200
Subsystem sftp internal-sftp
ForceCommand internal-sftp${refuses}${umask}
`;
  writeFileSync(join(folder, "sshd.conf"), configuration);
  const server = await startServer("/usr/sbin/sshd", ["-D", "-e", "-f", join(folder, "sshd.conf")], port);
  const privateKey = readFileSync(userKey, "utf8");
  return { port, user: serverUser, privateKey, fingerprints, end: () => server.end() };
}
