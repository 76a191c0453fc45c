/** A host of the crash test over FTP with explicit TLS. */
import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { Client, FTPError } from "basic-ftp";
import { user } from "../support/daemon.ts";
import { waitFor } from "../support/wait-for.ts";
import { halfOf, type HostClient, type OpenHostClient } from "./crash-client.ts";

/** Bytes of a part that are sent once more. */
const overlap = 5;
const halfOnItsWayMs = 30;
const existsAlready = 553;

function isRefusal(error: unknown): boolean {
  return (
    error instanceof FTPError && error.code >= 500 && !error.message.includes("being uploaded by another")
  );
}

class FtpHostClient implements HostClient {
  readonly #client: Client;
  /** One thing at a time is done over a connection. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(client: Client) {
    this.#client = client;
  }

  put(path: string, content: string): Promise<void> {
    return this.#inTurn(() => this.#store(path, Buffer.from(content)));
  }

  rename(from: string, to: string): Promise<void> {
    return this.#inTurn(async () => {
      await this.#client.sendIgnoringError(`DELE ${to}`);
      // What an attempt before has given this name waits to be taken, and nothing is put in its place.
      await waitFor("the name to be free", async () => {
        try {
          await this.#client.rename(from, to);
          return true;
        } catch (error) {
          if (error instanceof FTPError && error.code === existsAlready) return false;
          throw error;
        }
      });
    });
  }

  remove(path: string): Promise<void> {
    return this.#inTurn(async () => void (await this.#client.remove(path)));
  }

  async breakOff(path: string, content: string): Promise<void> {
    const source = new Readable({ read: () => undefined });
    source.push(halfOf(content));
    const upload = this.#client.uploadFrom(source, path);
    await Promise.race([upload, pause(halfOnItsWayMs)]);
    this.#client.close();
    await upload.catch(() => undefined); // broken off on purpose
  }

  /** From a little before its end. */
  goOn(path: string, content: string): Promise<void> {
    return this.#inTurn(async () => {
      const bytes = Buffer.from(content);
      const size = await this.#client.size(path).catch((error: unknown) => {
        if (isRefusal(error)) return 0;
        throw error;
      });
      const from = size > bytes.length ? 0 : Math.max(0, size - overlap);
      try {
        if (from > 0) await this.#client.send(`REST ${from}`);
        await this.#store(path, bytes.subarray(from));
      } catch (error) {
        // It is no part: an attempt before has got through.
        if (!isRefusal(error)) throw error;
        await this.#store(path, bytes);
      }
    });
  }

  async end(): Promise<void> {
    this.#client.close();
  }

  async #store(path: string, bytes: Buffer): Promise<void> {
    await this.#client.uploadFrom(Readable.from([bytes]), path);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work);
    this.#turn = mine.catch(() => undefined); // told to whoever asked for it
    return mine;
  }
}

/** Signs in with the site's password; `ca` is the server's certificate. */
export function ftpHostClient(ca: string): OpenHostClient {
  return async (site) => {
    const client = new Client(20_000);
    const { password, ftpPort: port } = site;
    const secureOptions = { ca };
    await client.access({ host: "127.0.0.1", port, user, password, secure: true, secureOptions });
    return new FtpHostClient(client);
  };
}
