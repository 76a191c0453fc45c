/**
 * A connection of ssh2-sftp-client to an SFTP server, over a socket of our own, which can be cut at any moment.
 *
 *   new → connecting → (host key) → signing in → open → closed
 *
 * Every call also ends when the connection does: the library leaves some of its promises open then.
 */
import type { Socket } from "node:net";
import type { ServerHostKeyAlgorithm, SFTPWrapper } from "ssh2";
import SftpClient from "ssh2-sftp-client";
import { given } from "../lib/given.ts";
import { connectSocket } from "./connect-socket.ts";
import { algorithmsWithout, describeKey, isPinned, type SeenKey, unknownHost } from "./host-keys.ts";
import type { OpeningStep } from "./remote-session.ts";
import type { SftpSettings } from "./server-settings.ts";
import { callFault, connectionFault } from "./sftp-faults.ts";
import { TransferFault } from "./transfer-fault.ts";

/** A connection that is signed in. */
interface Opened {
  readonly socket: Socket;
  readonly client: SftpClient;
  readonly raw: SFTPWrapper;
  /** Rejects when the connection ends. */
  readonly lost: Promise<never>;
}

export class SftpClientConnection {
  /** The server, for messages. */
  readonly where: string;
  readonly #settings: SftpSettings;
  #opened: Opened | undefined;
  #socket: Socket | undefined;
  readonly #cut = new AbortController();

  constructor(settings: SftpSettings) {
    this.#settings = settings;
    this.where = `sftp ${settings.host}:${settings.port}`;
  }

  get isOpen(): boolean {
    return this.#opened !== undefined && !this.#opened.socket.destroyed;
  }

  /** Connects, checks who answers, signs in. Rejects with a `TransferFault`. */
  async open(step: (step: OpeningStep) => void): Promise<void> {
    const seen: SeenKey[] = [];
    let before = -1;
    // Again for each kind of key that the server has, as long as new ones are seen.
    while (this.#opened === undefined) {
      if (seen.length === before) throw unknownHost(this.where, seen, this.#settings.hostKeys);
      before = seen.length;
      step("connecting");
      this.#opened = await this.#connect(seen, step);
    }
  }

  /** Runs a call of the library; it rejects with a `TransferFault`, also when the connection ends. */
  async call<T>(doing: string, work: (opened: Opened) => Promise<T>): Promise<T> {
    const opened = this.#opened;
    if (opened === undefined) throw new TransferFault("connectionLost", `${this.where}: not connected.`);
    try {
      return await Promise.race([work(opened), opened.lost]);
    } catch (error) {
      throw callFault(error, this.where, doing);
    }
  }

  /** Says goodbye. */
  end(): void {
    const opened = this.#opened;
    if (opened === undefined) return;
    // The goodbye is a courtesy: what it rejects with, and whether it is heard, is all the same.
    void opened.client.end().catch(() => undefined);
    opened.socket.destroySoon();
    this.#opened = undefined;
  }

  /** Cuts the connection: what is under way rejects. */
  destroy(): void {
    this.#opened = undefined;
    this.#cut.abort();
    this.#socket?.destroy();
  }

  /** Undefined when the key that was shown is not pinned; it is in `seen` then. */
  async #connect(seen: SeenKey[], step: (step: OpeningStep) => void): Promise<Opened | undefined> {
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
      throw connectionFault(error, this.where) ?? error;
    }
  }

  async #signIn(socket: Socket, seen: SeenKey[]): Promise<Opened> {
    const lost = Promise.withResolvers<never>();
    lost.promise.catch(() => undefined); // heard by the calls that run meanwhile, if any
    const broken = () => new TransferFault("connectionLost", `${this.where}: the connection broke.`);
    const end = () => lost.reject(broken());
    // A server that says nothing any more is no broken connection.
    const fail = (error: unknown) => lost.reject(connectionFault(error, this.where) ?? broken());
    socket.once("close", end);
    const client = new SftpClient("dropgate", { error: fail, end, close: end });
    const { password, times } = this.#settings;
    client.on(
      "keyboard-interactive",
      (_name, _text, _language, prompts: unknown[], finish: (answers: string[]) => void) =>
        finish(prompts.map(() => password ?? "")),
    );
    const late = setTimeout(() => {
      lost.reject(new TransferFault("timeout", `${this.where}: not signed in within ${times.connectMs} ms.`));
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
      ...given({ privateKey, passphrase }),
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
}
