/** What a signed-in connection to an FTP server does with files. */
import { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { type Client, FTPError } from "basic-ftp";
import { FtpClientConnection } from "./ftp-client-connection.ts";
import { ListingCut } from "./ftp-listing.ts";
import type { OpeningStep, RemoteEntry, RemotePlace, RemoteSession, TakeEntries } from "./remote-session.ts";
import type { FtpSettings } from "./server-settings.ts";

/** So that progress is seen: what lies in a socket counts as sent. */
const chunkBytes = 64 * 1024;

/** vsftpd takes a TLS connection that ends the moment it begins for a broken one. */
const emptyPauseMs = 100;

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.byteLength === 0) await pause(emptyPauseMs);
  for (let at = 0; at < bytes.byteLength; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}

/** Takes so many bytes and one more. */
function collector(maxBytes: number): { readonly into: Writable; bytes(): Buffer } {
  const parts: Buffer[] = [];
  let size = 0;
  const into = new Writable({
    write(part: Buffer, _encoding, done) {
      size += part.length;
      if (size <= maxBytes + chunkBytes) parts.push(part);
      done(size > maxBytes + chunkBytes ? new Error("the file is longer than it was") : null);
    },
  });
  return { into, bytes: () => Buffer.concat(parts) };
}

/** Not connected before `open`. */
export class FtpClientSession implements RemoteSession {
  readonly #connection: FtpClientConnection;
  #place: string | undefined;
  /** False once the server has refused MDTM as unknown. */
  #tellsTimes = true;

  constructor(settings: FtpSettings) {
    this.#connection = new FtpClientConnection(settings);
  }

  get isOpen(): boolean {
    return this.#connection.isOpen;
  }

  async open(step: (step: OpeningStep) => void): Promise<void> {
    await this.#connection.open(step);
  }

  async enter({ directory, inner, makesFolders }: RemotePlace): Promise<void> {
    const place = `${directory ?? ""}\n${inner ?? ""}`;
    if (this.#place === place) {
      await this.#connection.call("entering", "", (client) => client.send("NOOP"));
      return;
    }
    this.#place = undefined;
    const { home } = this.#connection;
    await this.#connection.call("entering", home, (client) => client.cd(home));
    if (directory !== undefined) await this.#enterPath(directory, makesFolders);
    if (inner !== undefined) await this.#enterPath(inner, true);
    this.#place = place;
  }

  async #enterPath(path: string, isMade: boolean): Promise<void> {
    await this.#connection.call("entering", path, async (client) => {
      try {
        await client.cd(path);
      } catch (error) {
        if (!isMade || !(error instanceof FTPError)) throw error;
        if (path.startsWith("/")) await client.cd("/");
        for (const part of path.split("/").filter((one) => one !== "")) {
          await client.sendIgnoringError(`MKD ${part}`); // it may exist; else the next command fails
          await client.cd(part);
        }
      }
    });
  }

  async look(name: string): Promise<RemoteEntry | undefined> {
    return await this.#connection.call("looking", name, async (client) => {
      try {
        return { size: await client.size(name), isFile: true };
      } catch (error) {
        if (!(error instanceof FTPError)) throw error;
        if (error.code === 550) return undefined;
        if (error.code < 500 || error.code > 504) throw error;
        return await this.#lookByRename(client, name);
      }
    });
  }

  /** For servers that do not know SIZE: the first half of a rename shows whether there is a file. */
  async #lookByRename(client: Client, name: string): Promise<RemoteEntry | undefined> {
    const { code } = await client.sendIgnoringError(`RNFR ${name}`);
    return code === 350 ? { size: undefined, isFile: true } : undefined;
  }

  async changedAt(name: string): Promise<string | undefined> {
    if (!this.#tellsTimes) return undefined;
    return await this.#connection.call("looking", name, async (client) => {
      try {
        const at = (await client.lastMod(name)).getTime();
        return Number.isNaN(at) ? undefined : String(at);
      } catch (error) {
        if (!(error instanceof FTPError)) throw error;
        if (error.code >= 500 && error.code <= 504) this.#tellsTimes = false;
        return undefined;
      }
    });
  }

  async read(name: string, maxBytes: number): Promise<Uint8Array | undefined> {
    const { into, bytes } = collector(maxBytes);
    return await this.#connection.call("looking", name, async (client) => {
      try {
        await client.downloadTo(into, name);
        return bytes();
      } catch (error) {
        if (error instanceof FTPError && error.code >= 500) return undefined;
        throw error;
      }
    });
  }

  async upload(name: string, bytes: Uint8Array): Promise<void> {
    await this.#connection.call("uploading", name, (client) =>
      client.uploadFrom(Readable.from(chunksOf(bytes)), name),
    );
  }

  async list(take: TakeEntries): Promise<boolean> {
    return await this.#connection.call("listing", "", async (client) => {
      try {
        await client.listTo(take);
        return true;
      } catch (error) {
        if (!(error instanceof ListingCut)) throw error;
        this.destroy(); // the server may still be sending
        return false;
      }
    });
  }

  async download(name: string, write: (piece: Uint8Array) => Promise<void>): Promise<void> {
    const into = new Writable({
      write: (piece: Buffer, _encoding, done) => void write(piece).then(() => done(), done),
    });
    await this.#connection.call("downloading", name, (client) => client.downloadTo(into, name));
  }

  async checkFolder(path: string): Promise<void> {
    await this.#connection.call("entering", path, async (client) => {
      const here = await client.pwd();
      await client.cd(this.#fromHome(path));
      await client.cd(here);
    });
  }

  async isTaken(path: string, name: string): Promise<boolean> {
    return (await this.look(`${this.#fromHome(path)}/${name}`)) !== undefined;
  }

  async move(name: string, path: string, newName: string): Promise<void> {
    const next = `${this.#fromHome(path)}/${newName}`;
    await this.#connection.call("renaming", `${name} to ${next}`, (client) => client.rename(name, next));
  }

  /** FTP takes paths from the folder that was entered, settings mean them from where the sign-in leads. */
  #fromHome(path: string): string {
    return path.startsWith("/") ? path : `${this.#connection.home.replace(/\/+$/, "")}/${path}`;
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#connection.call("renaming", `${from} to ${to}`, (client) => client.rename(from, to));
  }

  async remove(name: string): Promise<void> {
    await this.#connection.call("removing", name, async (client) => {
      try {
        await client.remove(name);
      } catch (error) {
        const isGone =
          error instanceof FTPError && error.code === 550 && (await this.look(name)) === undefined;
        if (!isGone) throw error;
      }
    });
  }

  async isFull(): Promise<boolean> {
    return false; // FTP has no such question
  }

  end(): void {
    this.#connection.end();
  }

  destroy(): void {
    this.#connection.destroy();
  }
}
