import { readFileSync } from "node:fs";
import { Client, type SFTPWrapper } from "ssh2";
import type { SftpSite } from "./sites.ts";

export interface SftpUploader {
  /** Resolves when the close is answered. */
  put(path: string, bytes: Buffer): Promise<void>;
  end(): void;
}

type Done<T> = (error: Error | null | undefined, value: T) => void;

function answered<T>(call: (done: Done<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    call((error, value) => (error ? reject(error) : resolve(value)));
  });
}

async function put(
  sftp: SFTPWrapper,
  file: { path: string; bytes: Buffer; isSynced: boolean },
): Promise<void> {
  const { path, bytes, isSynced } = file;
  const handle = await answered<Buffer>((done) => sftp.open(path, "w", done));
  await answered<void>((done) => sftp.write(handle, bytes, 0, bytes.length, 0, (error) => done(error)));
  if (isSynced) await answered<void>((done) => sftp.ext_openssh_fsync(handle, (error) => done(error)));
  await answered<void>((done) => sftp.close(handle, (error) => done(error)));
}

/** One session from within this process. Files are durable when their `put` resolves, on either server. */
export async function connectSftp(site: SftpSite): Promise<SftpUploader> {
  const client = new Client();
  await new Promise<void>((resolve, reject) => {
    client.on("ready", resolve).on("error", reject);
    client.connect({
      host: "127.0.0.1",
      port: site.port,
      username: site.login,
      privateKey: readFileSync(site.keyFile),
    });
  });
  client.setNoDelay(true);
  const sftp = await answered<SFTPWrapper>((done) => client.sftp(done));
  const isSynced = site.put === "put -f";
  return { put: (path, bytes) => put(sftp, { path, bytes, isSynced }), end: () => client.end() };
}
