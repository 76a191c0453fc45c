/** vsftpd, to be measured beside dropgate: anonymous uploads into a folder (without a jail, so `uploads` is relative), as the user who runs this. */
import { spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { newFolder } from "./folders.ts";
import { runProgram } from "./run-program.ts";
import { endProcess, freePort } from "./sites.ts";

const program = "/usr/sbin/vsftpd";

export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface VsftpdSite {
  readonly port: number;
  /** Where uploads to `uploads` lie. */
  readonly uploads: string;
  end(): Promise<void>;
}

export function hasVsftpd(): boolean {
  try {
    accessSync(program, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A certificate for 127.0.0.1, for both servers. */
export async function makeTlsFiles(): Promise<TlsFiles> {
  const folder = await newFolder("tls");
  const [keyFile, certFile] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
  const made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...names];
  await runProgram("openssl", [...made, "-keyout", keyFile, "-out", certFile]);
  return { certFile, keyFile };
}

function settingsOf(port: number, root: string, tls: TlsFiles): Record<string, string> {
  return {
    listen: "YES",
    listen_address: "127.0.0.1",
    listen_port: String(port),
    background: "NO",
    run_as_launching_user: "YES",
    anonymous_enable: "YES",
    no_anon_password: "YES",
    ftp_username: userInfo().username,
    anon_root: root,
    anon_upload_enable: "YES",
    write_enable: "YES",
    anon_umask: "077",
    allow_writeable_chroot: "YES",
    secure_chroot_dir: root,
    seccomp_sandbox: "NO",
    xferlog_enable: "NO",
    ssl_enable: "YES",
    allow_anon_ssl: "YES",
    rsa_cert_file: tls.certFile,
    rsa_private_key_file: tls.keyFile,
    ssl_ciphers: "HIGH",
  };
}

async function untilServing(port: number): Promise<void> {
  for (let left = 100; left > 0; left -= 1) {
    const socket = connect({ port, host: "127.0.0.1" });
    const isUp = await new Promise<boolean>((resolve) => {
      socket.once("data", () => resolve(true)).once("error", () => resolve(false));
    });
    socket.destroy();
    if (isUp) return;
    await wait(50);
  }
  throw new Error("vsftpd does not serve");
}

export async function startVsftpd(tls: TlsFiles): Promise<VsftpdSite> {
  const root = await newFolder("vsftpd");
  const [port, uploads, configFile] = [await freePort(), join(root, "uploads"), join(root, "vsftpd.conf")];
  await mkdir(uploads);
  const lines = Object.entries(settingsOf(port, root, tls)).map(([name, value]) => `${name}=${value}`);
  await writeFile(configFile, `${lines.join("\n")}\n`);
  const child = spawn(program, [configFile], { stdio: "ignore" });
  await untilServing(port);
  return { port, uploads, end: () => endProcess(child) };
}
