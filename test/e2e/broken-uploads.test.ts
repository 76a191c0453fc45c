/** Clients that write out of order, and clients that close a file although a write of it was refused. */
import { createHash } from "node:crypto";
import { closeSync, existsSync, mkdirSync, openSync, writeSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SFTPWrapper } from "ssh2";
import SftpClient from "ssh2-sftp-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectApplied } from "../support/applied-files.ts";
import { sshSettings } from "../support/clients.ts";
import { Site, user } from "../support/daemon.ts";
import { type CertificateFiles, curlFtp, ftpSettings, makeCertificateFiles } from "../support/ftp-clients.ts";
import { randomOf } from "../support/random-numbers.ts";
import { isInstalled, runProgram } from "../support/run-program.ts";
import { receiptFor, type StopFile, stopFile, writeLocally } from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";

const maxUploadBytes = 20_000_000;
let site: Site;
let certificate: CertificateFiles;

beforeAll(async () => {
  certificate = makeCertificateFiles();
  site = await Site.make({ ftp: ftpSettings(certificate), sftp: { maxUploadBytes } });
  await site.start();
});
afterAll(async () => {
  await site.end();
  certificate.remove();
});

interface Entry {
  readonly name: string;
  readonly state: string;
  readonly sha256: string;
}

async function entriesOf(name: string): Promise<Entry[]> {
  return (await site.json<Entry[]>("files")).filter((entry) => entry.name === name);
}

const sha256Of = (bytes: string | Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** A stop file that is filled up to the size with blanks behind its root element, and numbers in comments. */
function largeStop(stopNbr: string, bytes: number): StopFile {
  const { name, content } = stopFile(stopNbr);
  const comment = (index: number) => `<!-- ${index} ${"-x".repeat(490)} -->\n`;
  let text = String(content);
  for (let index = 0; text.length < bytes - 1_000; index += 1) text += comment(index);
  return { name, content: text.padEnd(bytes, " ") };
}

async function connect(): Promise<SftpClient> {
  const client = new SftpClient("host");
  await client.connect({
    host: "127.0.0.1",
    port: site.sftpPort,
    username: user,
    privateKey: await readFile(site.keyFile),
    readyTimeout: 20_000,
  });
  return client;
}

/** What ssh2-sftp-client does not show. */
function rawOf(client: SftpClient): SFTPWrapper {
  return (client as unknown as { readonly sftp: SFTPWrapper }).sftp;
}

function answered<T>(ask: (done: (error: Error | null | undefined, value?: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) =>
    ask((error, value) => (error ? reject(error) : resolve(value as T))),
  );
}

async function openRaw(client: SftpClient, path: string): Promise<Buffer> {
  return await answered<Buffer>((done) => rawOf(client).open(path, "w", done));
}

async function writeRaw(
  client: SftpClient,
  handle: Buffer,
  piece: { bytes: string; at: number },
): Promise<void> {
  const bytes = Buffer.from(piece.bytes);
  await answered<void>((done) => rawOf(client).write(handle, bytes, 0, bytes.length, piece.at, done));
}

async function closeRaw(client: SftpClient, handle: Buffer): Promise<void> {
  await answered<void>((done) => rawOf(client).close(handle, done));
}

describe("a client that writes out of order", () => {
  test.each([
    [200 * 1024, 10],
    [7_000_000, 5],
  ])(
    "ssh2-sftp-client's fastPut of %i bytes, %i times",
    async (bytes, times) => {
      const client = await connect();
      try {
        for (let time = 0; time < times; time += 1) {
          const file = largeStop(`F${bytes}-${time}`, bytes);
          await writeLocally(site, [file]);
          await client.fastPut(join(site.client, file.name), `/inbound/${file.name}`);
          expect(await receiptFor(site, file.name)).toMatchObject({ status: 10 });
          expect(await entriesOf(file.name)).toMatchObject([
            { state: "applied", sha256: sha256Of(file.content) },
          ]);
        }
      } finally {
        await client.end();
      }
    },
    120_000,
  );

  test("and leaves a byte out is refused at the close, and nothing becomes of it", async () => {
    const client = await connect();
    const { name, content } = stopFile("HOLE");
    const text = String(content);
    const handle = await openRaw(client, `/inbound/${name}`);
    await writeRaw(client, handle, { bytes: text.slice(101), at: 101 });
    await writeRaw(client, handle, { bytes: text.slice(0, 100), at: 0 });
    await expect(closeRaw(client, handle)).rejects.toThrow("bytes 100 to 100 never came");
    expect((await client.list("/inbound")).map((entry) => entry.name)).toEqual([`.${name}.partial`]);
    await client.delete(`/inbound/.${name}.partial`);
    await client.end();
    expect(await entriesOf(name)).toEqual([]);
  });

  test.skipIf(!isInstalled("sshfs") || !existsSync("/dev/fuse"))(
    "sshfs, with writes at random places of a mounted file",
    async () => {
      const mount = join(site.client, "mount");
      mkdirSync(mount);
      const options = ["-o", "direct_io", "-p", String(site.sftpPort), ...sshSettings(site, undefined)];
      const mounted = await runProgram("sshfs", [`${user}@127.0.0.1:/`, mount, ...options]);
      expect(mounted.exitCode, mounted.output).toBe(0);
      try {
        const file = largeStop("SSHFS", 300_000);
        writeShuffled(join(mount, "inbound", file.name), Buffer.from(file.content));
        await expectApplied(site, file);
      } finally {
        await runProgram("fusermount", ["-u", mount]);
      }
    },
  );
});

function writeShuffled(path: string, bytes: Buffer): void {
  const random = randomOf(5);
  const places = Array.from({ length: Math.ceil(bytes.length / 10_000) }, (_, index) => index * 10_000);
  const shuffled = places.map((at) => ({ at, key: random() })).sort((one, other) => one.key - other.key);
  const fd = openSync(path, "wx");
  for (const { at } of shuffled) writeSync(fd, bytes, at, Math.min(10_000, bytes.length - at), at);
  closeSync(fd);
}

describe("a write that is refused", () => {
  test("over SFTP fails the close, and what came before it is a part", async () => {
    const client = await connect();
    const { name, content } = stopFile("LARGE");
    const handle = await openRaw(client, `/inbound/${name}`);
    await writeRaw(client, handle, { bytes: String(content), at: 0 });
    const beyond = { bytes: "x", at: maxUploadBytes };
    await expect(writeRaw(client, handle, beyond)).rejects.toThrow("File too large");
    await expect(closeRaw(client, handle)).rejects.toThrow("File too large");
    expect((await client.list("/inbound")).map((entry) => entry.name)).toEqual([`.${name}.partial`]);
    await client.put(Buffer.from(content), `/inbound/${name}`);
    await client.end();
    await expectApplied(site, { name, content });
    expect(await entriesOf(name)).toHaveLength(1);
  });

  test.each(["whole", "appended"])(
    "over FTP fails the transfer (%s), and nothing becomes of it",
    async (way) => {
      const { name } = stopFile(`FTP-${way}`);
      await writeFile(join(site.client, name), Buffer.alloc(maxUploadBytes + 1, 32));
      const args = ["-T", name, ...(way === "appended" ? ["--append"] : [])];
      const result = await curlFtp(site, `/inbound/${name}`, args, {
        certFile: certificate.certFile,
        mode: "explicit",
      });
      expect(result.exitCode, result.output).not.toBe(0);
      await waitFor("the part", async () =>
        (await readdir(site.path("inbound/.partial"), { recursive: true })).some((path) =>
          path.endsWith(name),
        ),
      );
      expect(await entriesOf(name)).toEqual([]);
    },
  );
});

test("after all of this the accounting is right", async () => {
  expect((await site.cli("ledger", "verify")).exitCode).toBe(0);
});
