/**
 * A signed-in SFTP connection through ssh2-sftp-client, over a socket of our own, which can be cut at any moment.
 *
 *   new → connecting → (host key) → signing in → open → closed
 *
 * Every call also ends when the connection does: the library leaves some of its promises open then.
 */
import type { Socket } from "node:net";
import type { ServerHostKeyAlgorithm, SFTPWrapper } from "ssh2";
import SftpClient from "ssh2-sftp-client";
import { connectSocket } from "./connect-socket.ts";
import { algorithmsWithout, describeKey, isPinned, type SeenKey, unknownHost } from "./host-keys.ts";
import type { OpeningStep, RemoteEntry, RemotePlace, RemoteSession, TakeEntries } from "./remote-session.ts";
import { listSftpFolder } from "./sftp-listing.ts";
import { uploadSftpFile } from "./sftp-upload.ts";
import { callFault, codeOf, connectionFault, sftpStatus } from "./sftp-faults.ts";
import { TransferFault } from "./transfer-fault.ts";
import type { SftpSettings } from "./server-settings.ts";

interface Connection {
  readonly socket: Socket;
  readonly client: SftpClient;
  readonly raw: SFTPWrapper;
  /** Rejects when the connection ends. */
  readonly lost: Promise<never>;
}

class SftpSession implements RemoteSession {
  readonly #settings: SftpSettings;
  readonly #where: string;
  #connection: Connection | undefined;
  #socket: Socket | undefined;
  readonly #cut = new AbortController();
  /** Of the folder that was entered, with its slash. */
  #prefix = "";

  constructor(settings: SftpSettings) {
    this.#settings = settings;
    this.#where = `sftp ${settings.host}:${settings.port}`;
  }

  get isOpen(): boolean {
    return this.#connection !== undefined && !this.#connection.socket.destroyed;
  }

  async open(step: (step: OpeningStep) => void): Promise<void> {
    const seen: SeenKey[] = [];
    let before = -1;
    // Again for each kind of key that the server has, as long as new ones are seen.
    while (this.#connection === undefined) {
      if (seen.length === before) throw unknownHost(this.#where, seen, this.#settings.hostKeys);
      before = seen.length;
      step("connecting");
      this.#connection = await this.#connect(seen, step);
    }
  }

  /** Undefined when the key that was shown is not pinned; it is in `seen` then. */
  async #connect(seen: SeenKey[], step: (step: OpeningStep) => void): Promise<Connection | undefined> {
    const { host, port, times } = this.#settings;
    const before = seen.length;
    const socket = await connectSocket({ host, port, connectMs: times.connectMs }, this.#cut.signal);
    this.#socket = socket;
    step("signing in");
    try {
      return await this.#signIn(socket, seen);
    } catch (error) {
      socket.destroy();
      if (this.#cut.signal.aborted) throw error;
      if (seen.length > before) return undefined;
      // The server has no key of the kinds that are left.
      if (before > 0 && /no matching host key/.test(String(error))) return undefined;
      throw connectionFault(error, this.#where) ?? error;
    }
  }

  async #signIn(socket: Socket, seen: SeenKey[]): Promise<Connection> {
    const lost = Promise.withResolvers<never>();
    lost.promise.catch(() => undefined); // heard by the calls that run meanwhile, if any
    const broken = () => new TransferFault("connectionLost", `${this.#where}: the connection broke.`);
    const end = () => lost.reject(broken());
    // A server that says nothing any more is no broken connection.
    const fail = (error: unknown) => lost.reject(connectionFault(error, this.#where) ?? broken());
    socket.once("close", end);
    const client = new SftpClient("dropgate", { error: fail, end, close: end });
    const { password, times } = this.#settings;
    client.on(
      "keyboard-interactive",
      (_name, _text, _language, prompts: unknown[], finish: (answers: string[]) => void) =>
        finish(prompts.map(() => password ?? "")),
    );
    const late = setTimeout(() => {
      lost.reject(
        new TransferFault("timeout", `${this.#where}: not signed in within ${times.connectMs} ms.`),
      );
      socket.destroy();
    }, times.connectMs);
    try {
      const raw = await Promise.race([client.connect(this.#config(socket, seen)), lost.promise]);
      raw.on("error", () => socket.destroy()); // what does not obey the protocol is not talked to
      return { socket, client, raw, lost: lost.promise };
    } finally {
      clearTimeout(late);
    }
  }

  #config(socket: Socket, seen: SeenKey[]): SftpClient.ConnectOptions {
    const { user, password, privateKey, passphrase, hostKeys, times } = this.#settings;
    return {
      sock: socket,
      username: user,
      ...(password === undefined ? {} : { password, tryKeyboard: true }),
      ...(privateKey === undefined ? {} : { privateKey }),
      ...(passphrase === undefined ? {} : { passphrase }),
      readyTimeout: times.connectMs,
      // Without it a call to a frozen server never ends.
      keepaliveInterval: Math.max(100, Math.floor(times.silenceMs / 4)),
      keepaliveCountMax: 3,
      algorithms: { serverHostKey: algorithmsWithout(seen) as ServerHostKeyAlgorithm[] },
      hostVerifier: (key: Buffer): boolean => {
        const shown = describeKey(key);
        if (isPinned(shown, hostKeys)) return true;
        seen.push(shown);
        return false;
      },
    };
  }

  /** Runs a call of the library; it rejects with a `TransferFault`, also when the connection ends. */
  async #call<T>(doing: string, work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = this.#connection;
    if (connection === undefined) throw new TransferFault("connectionLost", `${this.#where}: not connected.`);
    try {
      return await Promise.race([work(connection), connection.lost]);
    } catch (error) {
      throw callFault(error, this.#where, doing);
    }
  }

  async enter(place: RemotePlace): Promise<void> {
    const { directory, inner, makesFolders } = place;
    const outer = directory ?? ".";
    await this.#checkFolder(outer, makesFolders);
    const path = inner === undefined ? outer : `${outer}/${inner}`;
    if (inner !== undefined) await this.#checkFolder(path, true);
    this.#prefix = path === "." ? "" : `${path.replace(/\/+$/, "")}/`;
  }

  async #checkFolder(path: string, isMade: boolean): Promise<void> {
    const found = await this.#statOf(path);
    if (found?.isDirectory === true) return;
    if (found !== undefined)
      throw new TransferFault("missingFolder", `${this.#where}: ${path} is not a folder.`);
    if (!isMade) {
      const remedy = "make it, or correct the setting that names it (a target makes it with `makeFolders`)";
      throw new TransferFault("missingFolder", `${this.#where}: there is no folder ${path}; ${remedy}.`);
    }
    await this.#call(`making the folder ${path}`, ({ client }) => client.mkdir(path, true));
  }

  async #statOf(path: string) {
    return await this.#call(`looking for ${path}`, async ({ client }) => {
      try {
        return await client.stat(path);
      } catch (error) {
        if (codeOf(error) === "ENOENT" || codeOf(error) === sftpStatus.noSuchFile) return undefined;
        throw error;
      }
    });
  }

  async look(name: string): Promise<RemoteEntry | undefined> {
    const found = await this.#statOf(this.#prefix + name);
    if (found === undefined) return undefined;
    const { size, isFile, modifyTime } = found;
    return { size, isFile, modified: String(modifyTime / 1000) };
  }

  async changedAt(): Promise<undefined> {
    // `look` tells it.
  }

  async read(name: string, maxBytes: number): Promise<Uint8Array | undefined> {
    const path = this.#prefix + name;
    return await this.#call(`reading ${name}`, async ({ client }) => {
      const parts: Buffer[] = [];
      try {
        for await (const part of client.createReadStream(path, { start: 0, end: maxBytes })) {
          parts.push(part as Buffer);
        }
      } catch (error) {
        if (codeOf(error) === sftpStatus.permissionDenied) return undefined;
        throw error;
      }
      return Buffer.concat(parts);
    });
  }

  async upload(name: string, bytes: Uint8Array): Promise<void> {
    const path = this.#prefix + name;
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    try {
      await this.#call(`uploading ${name}`, ({ raw }) => uploadSftpFile(raw, path, buffer));
    } catch (error) {
      throw (await this.isFull()) ? this.#noSpace() : error;
    }
  }

  #noSpace(): TransferFault {
    return new TransferFault("noSpace", `${this.#where}: there is no space left on its disk.`);
  }

  /** A server says "Failure" when its disk is full; asked directly, most tell. */
  async isFull(): Promise<boolean> {
    const connection = this.#connection;
    if (connection === undefined || !this.isOpen) return false;
    const asked = new Promise<boolean>((resolve) => {
      try {
        connection.raw.ext_openssh_statvfs(this.#prefix === "" ? "." : this.#prefix, (error, stats) =>
          resolve(error === undefined || error === null ? Number(stats.f_bavail) === 0 : false),
        );
      } catch {
        resolve(false); // not every server can be asked
      }
    });
    return await Promise.race([asked, connection.lost]).catch(() => false); // the first fault is told
  }

  async list(take: TakeEntries): Promise<boolean> {
    const path = this.#prefix === "" ? "." : this.#prefix;
    return await this.#call(`listing ${path}`, ({ raw }) => listSftpFolder(raw, path, take));
  }

  async download(name: string, write: (piece: Uint8Array) => Promise<void>): Promise<void> {
    const path = this.#prefix + name;
    await this.#call(`downloading ${name}`, async ({ client }) => {
      const pieces = client.createReadStream(path);
      pieces.on("error", () => undefined); // also when the connection has ended the call: unheard, it would end the thread
      for await (const piece of pieces) await write(piece as Buffer);
    });
  }

  async checkFolder(path: string): Promise<void> {
    await this.#checkFolder(path, false);
  }

  async isTaken(path: string, name: string): Promise<boolean> {
    return (await this.#statOf(`${path}/${name}`)) !== undefined;
  }

  async move(name: string, path: string, newName: string): Promise<void> {
    const [old, next] = [this.#prefix + name, `${path}/${newName}`];
    await this.#call(`moving ${name} to ${next}`, ({ client }) => client.rename(old, next));
  }

  async rename(from: string, to: string): Promise<void> {
    const [old, next] = [this.#prefix + from, this.#prefix + to];
    await this.#call(`renaming ${from} to ${to}`, ({ client }) => client.rename(old, next));
  }

  async remove(name: string): Promise<void> {
    await this.#call(`removing ${name}`, ({ client }) => client.delete(this.#prefix + name, true));
  }

  end(): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    // The goodbye is a courtesy: what it rejects with, and whether it is heard, is all the same.
    void connection.client.end().catch(() => undefined);
    connection.socket.destroySoon();
    this.#connection = undefined;
  }

  destroy(): void {
    this.#connection = undefined;
    this.#cut.abort();
    this.#socket?.destroy();
  }
}

/** A session that is not connected yet. */
export function openSftpSession(settings: SftpSettings): RemoteSession {
  return new SftpSession(settings);
}
