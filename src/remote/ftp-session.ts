/**
 * A signed-in FTP connection through basic-ftp: passive, binary, encrypted unless plain FTP was asked for.
 *
 *   new → connecting → (TLS, certificate) → signing in → open → closed
 *
 * Data connections go on with the TLS session of the control connection; servers insist on that, because else anybody
 * could take a data connection over.
 */
import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { type ConnectionOptions, type PeerCertificate, TLSSocket } from "node:tls";
import { type Client, FTPError } from "basic-ftp";
import { ListingClient, ListingCut } from "./ftp-listing.ts";
import { type FtpAction, ftpFault } from "./ftp-faults.ts";
import type { OpeningStep, RemoteEntry, RemotePlace, RemoteSession, TakeEntries } from "./remote-session.ts";
import { quoted, TransferFault } from "./transfer-fault.ts";
import type { FtpSettings } from "./server-settings.ts";

/** So that progress is seen: what lies in a socket counts as sent. */
const chunkBytes = 64 * 1024;

/** vsftpd takes a TLS connection that ends in the moment in which it begins for a broken one. */
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

class FtpSession implements RemoteSession {
  readonly #settings: FtpSettings;
  readonly #where: string;
  #client: ListingClient;
  #isSignedIn = false;
  #home = "/";
  #place: string | undefined;
  /** False when the server has said that it does not know MDTM. */
  #tellsTimes = true;
  /** The certificate that has the configured fingerprint, as PEM. */
  #pinned: string | undefined;

  constructor(settings: FtpSettings) {
    this.#settings = settings;
    this.#where = `ftp ${settings.host}:${settings.port}`;
    this.#client = new ListingClient(settings.times.silenceMs);
  }

  get isOpen(): boolean {
    return this.#isSignedIn && !this.#client.closed;
  }

  async open(step: (step: OpeningStep) => void): Promise<void> {
    const { connectMs } = this.#settings.times;
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.#client.close();
      this.#client.ftp.socket.destroy(); // amid the handshake of TLS the library does not listen
    }, connectMs);
    try {
      step("connecting");
      await this.#connect();
      step("signing in");
      await this.#signIn();
    } catch (error) {
      this.#client.close();
      if (isLate) throw new TransferFault("timeout", `${this.#where}: not signed in within ${connectMs} ms.`);
      const secrets = [this.#settings.password];
      throw ftpFault(error, this.#where, { action: "signing in", what: "", secrets });
    } finally {
      clearTimeout(timer);
    }
  }

  async #connect(): Promise<void> {
    const { certificateFingerprint, security } = this.#settings;
    if (security !== "plain" && certificateFingerprint !== undefined) {
      this.#pinned = await this.#findPinned(certificateFingerprint);
    }
    await this.#secure(this.#client, this.#tlsOptions());
  }

  async #secure(client: Client, tls: ConnectionOptions): Promise<void> {
    const { host, port, security } = this.#settings;
    if (security === "implicit") {
      await client.connectImplicitTLS(host, port, tls);
      return;
    }
    await client.connect(host, port);
    if (security === "explicit") await this.#startTls(client, tls);
  }

  async #startTls(client: Client, tls: ConnectionOptions): Promise<void> {
    try {
      await client.useTLS(tls);
    } catch (error) {
      if (!(error instanceof FTPError)) throw error;
      const words = `it takes no TLS at this port, so nothing was sent. It said: ${quoted(error.message)}`;
      throw new TransferFault("configuration", `${this.#where}: ${words}`, { cause: error });
    }
  }

  #tlsOptions(): ConnectionOptions {
    const { host, ca } = this.#settings;
    // Said here, because NODE_TLS_REJECT_UNAUTHORIZED in the environment would let everybody in otherwise.
    const shared: ConnectionOptions = { host, minVersion: "TLSv1.2", rejectUnauthorized: true };
    if (isIP(host) === 0) shared.servername = host;
    if (this.#pinned === undefined) return ca === undefined ? shared : { ...shared, ca };
    const isThatOne = (_host: string, { fingerprint256 }: PeerCertificate) =>
      this.#isPinnedPrint(fingerprint256) ? undefined : this.#otherCertificate(fingerprint256);
    // Trusted for itself, whoever signed it and whatever name it has; so the data connections are checked as well.
    return { ...shared, ca: this.#pinned, allowPartialTrustChain: true, checkServerIdentity: isThatOne };
  }

  /**
   * Asks the server for its certificate over a connection that is used for nothing else, and compares its fingerprint. The
   * library cannot check fingerprints by itself, and a check afterwards would come too late for data connections.
   */
  async #findPinned(fingerprint: string): Promise<string> {
    const client = new ListingClient(this.#settings.times.silenceMs);
    const outer = this.#client;
    this.#client = client; // so that a deadline closes this one
    try {
      await this.#secure(client, { ...this.#tlsOptions(), rejectUnauthorized: false });
      const { socket } = client.ftp;
      const raw = socket instanceof TLSSocket ? socket.getPeerCertificate().raw : undefined;
      const shown = raw === undefined ? undefined : new X509Certificate(raw);
      if (shown === undefined || !this.#isPinnedPrint(shown.fingerprint256)) {
        throw this.#otherCertificate(shown?.fingerprint256 ?? `none, where ${fingerprint} was expected`);
      }
      return shown.toString();
    } finally {
      client.close();
      this.#client = outer;
    }
  }

  #isPinnedPrint(shown: string): boolean {
    return shown.replaceAll(":", "") === this.#settings.certificateFingerprint;
  }

  #otherCertificate(shown: string): TransferFault {
    const words = "it shows another certificate than `certificateFingerprint` says, so nothing was sent";
    const remedy = "ask its operator whether the certificate was changed, and put the new fingerprint there";
    return new TransferFault("identity", `${this.#where}: ${words}. It shows ${shown}; ${remedy}.`);
  }

  async #signIn(): Promise<void> {
    const { user, password } = this.#settings;
    await this.#client.login(user, password ?? "");
    await this.#client.useDefaultSettings();
    this.#home = await this.#client.pwd();
    this.#isSignedIn = true;
  }

  async #call<T>(action: FtpAction, what: string, work: (client: ListingClient) => Promise<T>): Promise<T> {
    try {
      return await work(this.#client);
    } catch (error) {
      throw ftpFault(error, this.#where, { action, what });
    }
  }

  async enter({ directory, inner, makesFolders }: RemotePlace): Promise<void> {
    const place = `${directory ?? ""}\n${inner ?? ""}`;
    if (this.#place === place) {
      await this.#call("entering", "", (client) => client.send("NOOP"));
      return;
    }
    this.#place = undefined;
    await this.#call("entering", this.#home, (client) => client.cd(this.#home));
    if (directory !== undefined) await this.#enterPath(directory, makesFolders);
    if (inner !== undefined) await this.#enterPath(inner, true);
    this.#place = place;
  }

  async #enterPath(path: string, isMade: boolean): Promise<void> {
    await this.#call("entering", path, async (client) => {
      try {
        await client.cd(path);
      } catch (error) {
        if (!isMade || !(error instanceof FTPError)) throw error;
        if (path.startsWith("/")) await client.cd("/");
        for (const part of path.split("/").filter((one) => one !== "")) {
          await client.sendIgnoringError(`MKD ${part}`); // there already, or the next command tells
          await client.cd(part);
        }
      }
    });
  }

  async look(name: string): Promise<RemoteEntry | undefined> {
    return await this.#call("looking", name, async (client) => {
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

  /** For servers that do not know SIZE: the first half of a rename tells whether there is a file. */
  async #lookByRename(client: Client, name: string): Promise<RemoteEntry | undefined> {
    const { code } = await client.sendIgnoringError(`RNFR ${name}`);
    return code === 350 ? { size: undefined, isFile: true } : undefined;
  }

  async changedAt(name: string): Promise<string | undefined> {
    if (!this.#tellsTimes) return undefined;
    return await this.#call("looking", name, async (client) => {
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
    return await this.#call("looking", name, async (client) => {
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
    await this.#call("uploading", name, (client) => client.uploadFrom(Readable.from(chunksOf(bytes)), name));
  }

  async list(take: TakeEntries): Promise<boolean> {
    return await this.#call("listing", "", async (client) => {
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
    await this.#call("downloading", name, (client) => client.downloadTo(into, name));
  }

  async checkFolder(path: string): Promise<void> {
    await this.#call("entering", path, async (client) => {
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
    await this.#call("renaming", `${name} to ${next}`, (client) => client.rename(name, next));
  }

  /** FTP takes paths from the folder that was entered, settings mean them from where the sign-in leads. */
  #fromHome(path: string): string {
    return path.startsWith("/") ? path : `${this.#home.replace(/\/+$/, "")}/${path}`;
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#call("renaming", `${from} to ${to}`, (client) => client.rename(from, to));
  }

  async remove(name: string): Promise<void> {
    await this.#call("removing", name, async (client) => {
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
    this.#isSignedIn = false;
    this.#client.close(); // says QUIT
  }

  destroy(): void {
    this.#isSignedIn = false;
    this.#client.close();
    this.#client.ftp.socket.destroy();
  }
}

/** A session that is not connected yet. */
export function openFtpSession(settings: FtpSettings): RemoteSession {
  return new FtpSession(settings);
}
