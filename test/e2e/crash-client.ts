/** What a host of the crash test does over a connection of its own, and how it does it over SFTP. */
import { readFile } from "node:fs/promises";
import type { Client, SFTPWrapper } from "ssh2";
import SftpClient from "ssh2-sftp-client";
import { type Site, user } from "../support/daemon.ts";

/** Paths are those of the company's tree. Calls may be made at once; each rejects when the daemon dies, or refuses. */
export interface HostClient {
  put(path: string, content: string): Promise<void>;
  /** Gives an unfinished file another name, in place of what an attempt before this one has left there. */
  rename(from: string, to: string): Promise<void>;
  /** Removes an own unfinished file. */
  remove(path: string): Promise<void>;
  /** Sends half of it, and breaks the connection, which is of no use any more. */
  breakOff(path: string, content: string): Promise<void>;
  /** Sends it where half of it may lie already. */
  goOn(path: string, content: string): Promise<void>;
  end(): Promise<void>;
}

export type OpenHostClient = (site: Site) => Promise<HostClient>;

/** Thrown when what was under way can only be sent again to the next run of the daemon. */
export class LinkLostError extends Error {}

/** The first half of a file. */
export function halfOf(content: string): Buffer {
  return Buffer.from(content).subarray(0, Math.ceil(content.length / 2));
}

/** What the client does not show. */
interface RawClient {
  readonly client: Client;
  readonly sftp: SFTPWrapper;
}

/** Settles with the answer, or rejects when the link ends before it. */
function answered<T>(
  client: SftpClient,
  ask: (done: (error: Error | null | undefined, value?: T) => void) => void,
): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const lost = () => reject(new LinkLostError("the link ended"));
    client.on("close", lost);
    ask((error, value) => {
      client.removeListener("close", lost);
      if (error === null || error === undefined) resolve(value);
      else reject(error);
    });
  });
}

class SftpHostClient implements HostClient {
  readonly #client: SftpClient;

  constructor(client: SftpClient) {
    this.#client = client;
  }

  async put(path: string, content: string): Promise<void> {
    await this.#client.put(Buffer.from(content), path);
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#client.posixRename(from, to);
  }

  async remove(path: string): Promise<void> {
    await this.#client.delete(path);
  }

  async breakOff(path: string, content: string): Promise<void> {
    await this.#write(await this.#open(path, "w"), halfOf(content));
    await this.#client.end();
  }

  /** From its beginning, without asking for an empty file. */
  async goOn(path: string, content: string): Promise<void> {
    const handle = await this.#open(path, "r+");
    await this.#write(handle, Buffer.from(content));
    await answered(this.#client, (done) => this.#raw.close(handle, done));
  }

  async end(): Promise<void> {
    await this.#client.end();
  }

  get #raw(): SFTPWrapper {
    return (this.#client as unknown as RawClient).sftp;
  }

  async #open(path: string, flags: "w" | "r+"): Promise<Buffer> {
    const handle = await answered<Buffer>(this.#client, (done) => this.#raw.open(path, flags, done));
    if (handle === undefined) throw new Error("an open was answered without a handle");
    return handle;
  }

  async #write(handle: Buffer, bytes: Buffer): Promise<void> {
    await answered(this.#client, (done) => this.#raw.write(handle, bytes, 0, bytes.length, 0, done));
  }
}

/** Signs in with the site's key. */
export async function openSftpHostClient(site: Site): Promise<HostClient> {
  const quiet = { error: () => undefined, end: () => undefined, close: () => undefined };
  const client = new SftpClient("crash", quiet);
  await client.connect({
    host: "127.0.0.1",
    port: site.sftpPort,
    username: user,
    privateKey: await readFile(site.keyFile),
    readyTimeout: 10_000,
  });
  (client as unknown as RawClient).client.setNoDelay(true);
  // Each upload of a link adds its own.
  (client as unknown as RawClient).client.setMaxListeners(0);
  return new SftpHostClient(client);
}
