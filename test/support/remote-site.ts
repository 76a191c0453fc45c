/** Servers with a folder that files are fetched from: OpenSSH's and vsftpd. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FtpSettings, ServerSettings, SftpSettings } from "../../src/remote/server-settings.ts";
import { makeAuthority } from "./certificates.ts";
import { ftpPassword, startFtpServer } from "./ftp-server.ts";
import { serverUser, startSshServer } from "./ssh-server.ts";

export interface RemoteSite {
  readonly server: ServerSettings;
  /** The folder that is polled, as the server knows it, and one beside it. */
  readonly directory: string;
  readonly done: string;
  /** The same on this machine. */
  readonly box: string;
  readonly doneBox: string;
  end(): Promise<void>;
}

const remoteTimes = { connectMs: 5_000, silenceMs: 5_000, keepMs: 2_000 } as const;

const isRoot = process.getuid?.() === 0;

/** A folder that the servers' user may write to, or, `isReadOnly`, only read. */
export function giveFolder(path: string, isReadOnly = false): string {
  mkdirSync(path, { recursive: true });
  if (isRoot && !isReadOnly) execFileSync("chown", [serverUser, path]);
  return path;
}

function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "dropgate-remote-"));
  chmodSync(folder, 0o755);
  return folder;
}

/** What a client of OpenSSH's server needs to know. */
export async function openSftpRemote(): Promise<RemoteSite & { readonly server: SftpSettings }> {
  const folder = openFolder();
  const ssh = await startSshServer(join(folder, "server"));
  const [box, doneBox] = [giveFolder(join(folder, "out")), giveFolder(join(folder, "done"))];
  return {
    server: {
      ...{ kind: "sftp", host: "127.0.0.1", port: ssh.port, user: ssh.user, privateKey: ssh.privateKey },
      ...{ password: undefined, passphrase: undefined, hostKeys: [ssh.fingerprints[0]], times: remoteTimes },
    },
    ...{ directory: box, done: doneBox, box, doneBox },
    end: async () => {
      await ssh.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function openFtpsRemote(): Promise<RemoteSite & { readonly server: FtpSettings }> {
  const folder = openFolder();
  const authority = await makeAuthority(folder);
  const ftp = await startFtpServer(join(folder, "server"), { certificate: await authority.issue("ftp") });
  return {
    server: {
      ...{ kind: "ftp", host: "127.0.0.1", port: ftp.port, user: ftp.user, password: ftpPassword },
      ...{ security: "explicit", ca: authority.ca, certificateFingerprint: undefined, times: remoteTimes },
    },
    ...{ directory: "out", done: "done" },
    ...{ box: giveFolder(join(ftp.root, "out")), doneBox: giveFolder(join(ftp.root, "done")) },
    end: async () => {
      await ftp.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A stop document of a stop. */
export function stopText(stopNbr: string, text = ""): string {
  return `<Stop><Function>01</Function><StopNbr>${stopNbr}</StopNbr><ShipToName>${text}</ShipToName></Stop>`;
}

/** Names and contents of the files of a folder, in the order of their names. */
export function contentsOf(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder)
      .sort()
      .map((name) => [name, readFileSync(join(folder, name), "utf8")]),
  );
}

/** Writes a file that was changed that many days ago. */
export function putFile(path: string, content: string | Buffer, daysAgo = 1): void {
  writeFileSync(path, content);
  const at = new Date(Date.now() - daysAgo * 86_400_000);
  utimesSync(path, at, at);
}

/** Removes everything in it, whatever its names are made of. */
export function emptyFolder(path: string): void {
  execFileSync("find", [path, "-mindepth", "1", "-delete"]);
}
