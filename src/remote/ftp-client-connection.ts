/**
 * A connection of basic-ftp to an FTP server: passive, binary, encrypted unless plain FTP was asked for.
 *
 *   new → connecting → (TLS, certificate) → signing in → open → closed
 *
 * Data connections go on with the TLS session of the control connection; servers insist on that, because else anybody
 * could take a data connection over.
 */
import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { type ConnectionOptions, type PeerCertificate, TLSSocket } from "node:tls";
import { type Client, FTPError } from "basic-ftp";
import { type FtpAction, ftpFault } from "./ftp-faults.ts";
import { ListingClient } from "./ftp-listing.ts";
import type { OpeningStep } from "./remote-session.ts";
import type { FtpSettings } from "./server-settings.ts";
import { quoted, TransferFault } from "./transfer-fault.ts";

export class FtpClientConnection {
  readonly #settings: FtpSettings;
  readonly #where: string;
  #client: ListingClient;
  #isSignedIn = false;
  #home = "/";
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

  /** The folder to which the sign-in leads. */
  get home(): string {
    return this.#home;
  }

  /** Connects, checks who answers, signs in. Rejects with a `TransferFault`. */
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

  /** Runs calls of the library; rejects with a `TransferFault`. */
  async call<T>(action: FtpAction, what: string, work: (client: ListingClient) => Promise<T>): Promise<T> {
    try {
      return await work(this.#client);
    } catch (error) {
      throw ftpFault(error, this.#where, { action, what });
    }
  }

  /** Says goodbye. */
  end(): void {
    this.#isSignedIn = false;
    this.#client.close(); // says QUIT
  }

  /** Cuts the connection: what is under way rejects. */
  destroy(): void {
    this.end();
    this.#client.ftp.socket.destroy();
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
    // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED in the environment would let everybody in otherwise.
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
}
