/** vsftpd for a test: TLS, and data connections only with the TLS session of their control connection. */
import { writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Certificate } from "./certificates.ts";
import { freePort, startServer } from "./server-process.ts";

export const ftpPassword = "kaz-21-lorry";

export interface FtpServerOptions {
  readonly certificate: Certificate;
  /** Default `explicit`. */
  readonly security?: "explicit" | "implicit" | "plain";
  /** Without it files can be made, and neither renamed nor removed. */
  readonly mayRename?: boolean;
  readonly mayMakeFolders?: boolean;
}

export interface FtpServer {
  readonly port: number;
  readonly user: string;
  /** What clients see as `/`. */
  readonly root: string;
  end(): Promise<void>;
}

const yes = (isSo: boolean) => (isSo ? "YES" : "NO");

function configurationOf(folder: string, port: number, options: FtpServerOptions): string {
  const { certificate, security = "explicit", mayRename = true, mayMakeFolders = true } = options;
  const hasTls = security !== "plain";
  return `listen=YES
listen_ipv6=NO
listen_address=127.0.0.1
listen_port=${port}
background=NO
anonymous_enable=YES
local_enable=NO
ftp_username=daemon
anon_root=${join(folder, "root")}
secure_email_list_enable=YES
email_password_file=${join(folder, "passwords")}
secure_chroot_dir=${join(folder, "empty")}
seccomp_sandbox=NO
xferlog_enable=NO
max_login_fails=10
delay_failed_login=0
write_enable=YES
anon_upload_enable=YES
anon_mkdir_write_enable=${yes(mayMakeFolders)}
anon_other_write_enable=${yes(mayRename)}
anon_world_readable_only=NO
anon_umask=022
ssl_enable=${yes(hasTls)}
allow_anon_ssl=${yes(hasTls)}
force_anon_logins_ssl=${yes(hasTls)}
force_anon_data_ssl=${yes(hasTls)}
require_ssl_reuse=YES
implicit_ssl=${yes(security === "implicit")}
ssl_ciphers=HIGH
rsa_cert_file=${certificate.certificateFile}
rsa_private_key_file=${certificate.keyFile}
`;
}

/** Starts it; its files lie in the folder, those of its clients in `root` there. Only root can. */
export async function startFtpServer(folder: string, options: FtpServerOptions): Promise<FtpServer> {
  for (const name of ["root", "empty"]) await mkdir(join(folder, name), { recursive: true, mode: 0o755 });
  const port = await freePort();
  writeFileSync(join(folder, "passwords"), `${ftpPassword}\n`);
  writeFileSync(join(folder, "vsftpd.conf"), configurationOf(folder, port, options));
  const server = await startServer("/usr/sbin/vsftpd", [join(folder, "vsftpd.conf")], port);
  return { port, user: "anonymous", root: join(folder, "root"), end: () => server.end() };
}
