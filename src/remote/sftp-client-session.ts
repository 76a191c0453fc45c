/** What a signed-in connection to an SFTP server does with files. */
import type { OpeningStep, RemoteEntry, RemotePlace, RemoteSession, TakeEntries } from "./remote-session.ts";
import type { SftpSettings } from "./server-settings.ts";
import { SftpClientConnection } from "./sftp-client-connection.ts";
import { codeOf, sftpStatus } from "./sftp-faults.ts";
import { listSftpFolder, uploadSftpFile } from "./sftp-requests.ts";
import { TransferFault } from "./transfer-fault.ts";

/** Not connected before `open`. */
export class SftpClientSession implements RemoteSession {
  readonly #connection: SftpClientConnection;
  /** Of the folder that was entered, with its slash. */
  #prefix = "";

  constructor(settings: SftpSettings) {
    this.#connection = new SftpClientConnection(settings);
  }

  get isOpen(): boolean {
    return this.#connection.isOpen;
  }

  async open(step: (step: OpeningStep) => void): Promise<void> {
    await this.#connection.open(step);
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
      throw new TransferFault("missingFolder", `${this.#connection.where}: ${path} is not a folder.`);
    if (!isMade) {
      const remedy = "make it, or correct the setting that names it (a target makes it with `makeFolders`)";
      throw new TransferFault(
        "missingFolder",
        `${this.#connection.where}: there is no folder ${path}; ${remedy}.`,
      );
    }
    await this.#connection.call(`making the folder ${path}`, ({ client }) => client.mkdir(path, true));
  }

  async #statOf(path: string) {
    return await this.#connection.call(`looking for ${path}`, async ({ client }) => {
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
    // `look` gives it.
  }

  async read(name: string, maxBytes: number): Promise<Uint8Array | undefined> {
    const path = this.#prefix + name;
    return await this.#connection.call(`reading ${name}`, async ({ client }) => {
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
      await this.#connection.call(`uploading ${name}`, ({ raw }) => uploadSftpFile(raw, path, buffer));
    } catch (error) {
      throw (await this.isFull()) ? this.#noSpace() : error;
    }
  }

  #noSpace(): TransferFault {
    return new TransferFault("noSpace", `${this.#connection.where}: there is no space left on its disk.`);
  }

  /** A server says "Failure" when its disk is full; most give the room when asked. */
  async isFull(): Promise<boolean> {
    if (!this.isOpen) return false;
    const path = this.#prefix === "" ? "." : this.#prefix;
    const asked = this.#connection.call(`asking for the room in ${path}`, ({ raw }) => {
      return new Promise<boolean>((resolve) => {
        raw.ext_openssh_statvfs(path, (error, stats) =>
          resolve(error === undefined || error === null ? Number(stats.f_bavail) === 0 : false),
        );
      });
    });
    return await asked.catch(() => false); // not every server can be asked, and the first fault is reported
  }

  async list(take: TakeEntries): Promise<boolean> {
    const path = this.#prefix === "" ? "." : this.#prefix;
    return await this.#connection.call(`listing ${path}`, ({ raw }) => listSftpFolder(raw, path, take));
  }

  async download(name: string, write: (piece: Uint8Array) => Promise<void>): Promise<void> {
    const path = this.#prefix + name;
    await this.#connection.call(`downloading ${name}`, async ({ client }) => {
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
    await this.#connection.call(`moving ${name} to ${next}`, ({ client }) => client.rename(old, next));
  }

  async rename(from: string, to: string): Promise<void> {
    const [old, next] = [this.#prefix + from, this.#prefix + to];
    await this.#connection.call(`renaming ${from} to ${to}`, ({ client }) => client.rename(old, next));
  }

  async remove(name: string): Promise<void> {
    await this.#connection.call(`removing ${name}`, ({ client }) => client.delete(this.#prefix + name, true));
  }

  end(): void {
    this.#connection.end();
  }

  destroy(): void {
    this.#connection.destroy();
  }
}
