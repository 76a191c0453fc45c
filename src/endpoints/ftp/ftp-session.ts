/** The state of one client, and what its commands work with. */
import type { ClientLog } from "../../exchange/connections/client-log.ts";
import type { ExchangeSession, FileExchange } from "../../exchange/exchange-session.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { ClientFinder } from "../../lib/proxy-protocol/client-finder.ts";
import type { Place } from "../../sign-in/connection-gate.ts";
import type { SignedInUser, SignIn } from "../../sign-in/sign-in.ts";
import type { DataConnection } from "./data-connection.ts";
import type { FtpOptions } from "./ftp-options.ts";
import { type FactName, factNames } from "./listing.ts";
import { type PassivePort, openPassivePort } from "./passive-port.ts";
import { DataFault, Refusal, type Reply, reply } from "./replies.ts";
import type { TlsSession } from "./tls-session.ts";

/** The control connection as commands see it. */
export interface Control {
  readonly connectionId: string;
  /** The client's address, normalised. */
  readonly address: string;
  /** The address on this machine that the client has connected to, normalised. */
  readonly localAddress: string;
  readonly isSecure: boolean;
  /** Aborts as soon as the client is gone. */
  readonly gone: AbortSignal;
  send(reply: Reply): void;
  /** Sends the reply in clear, drops the input behind the command; resolves when TLS is there or the client is gone. */
  startTls(reply: Reply): Promise<void>;
  /**
   * The user has signed in: ends the login deadline, begins the idle time-out. False, without any of it, when too many
   * users are signed in.
   */
  signIn(): boolean;
  /** Sends the reply and ends the connection. */
  leave(reply: Reply): void;
}

export interface FtpSessionDeps {
  readonly control: Control;
  /** Among the connections of the server. */
  readonly place: Place;
  readonly signIn: SignIn;
  readonly exchange: FileExchange;
  readonly options: FtpOptions;
  /** TLS of this client; undefined when there is no certificate. */
  readonly tls: TlsSession | undefined;
  readonly clientLog: ClientLog;
  readonly received?: ((bytes: number) => void) | undefined;
  /** Whose a data connection is. */
  readonly finder: Pick<ClientFinder, "find">;
}

/** A transfer under way. */
export interface Transfer {
  data: DataConnection | undefined;
  fault: DataFault | undefined;
  readonly startedAtMs: number;
}

export class FtpSession {
  readonly deps: FtpSessionDeps;
  /** Of the last USER. */
  userName: string | undefined;
  failedAttempts = 0;
  user: SignedInUser | undefined;
  exchangeSession: ExchangeSession | undefined;
  /** Absolute path of the working folder. */
  folder = "/";
  type: "A" | "I" = "A";
  /** Whether data connections use TLS (PROT P). */
  isDataProtected: boolean;
  /** EPSV ALL has come: PASV is not allowed any more. */
  isExtendedOnly = false;
  /** Of REST, for the next transfer. */
  restartAt = 0;
  /** Of ALLO, for the next upload. */
  announcedBytes: number | undefined;
  /** Of RNFR: absolute path. */
  renameFrom: string | undefined;
  facts: ReadonlySet<FactName> = new Set(factNames);
  #passive: PassivePort | undefined;
  #transfer: Transfer | undefined;
  #unclosed: DataConnection | undefined;
  /** Whether a password check is under way: then the client waits for us, not we for the client. */
  #isBeingChecked = false;

  constructor(deps: FtpSessionDeps, isImplicit: boolean) {
    this.deps = deps;
    this.isDataProtected = isImplicit;
  }

  get log(): Logger {
    return this.deps.clientLog.log;
  }

  missDeadline(): void {
    const { control, options, signIn, place, clientLog } = this.deps;
    clientLog.report("info", { afterMs: options.loginTimeoutMs }, "ftp sign-in not completed in time");
    // A balancer's own connection has had its place from the beginning, and is no guesser.
    if (!this.#isBeingChecked && !place.isSignedIn) signIn.reportSilence(control.address);
    control.leave(reply(421, "The sign-in took too long"));
  }

  async whileChecked<T>(check: () => Promise<T>): Promise<T> {
    this.#isBeingChecked = true;
    try {
      return await check();
    } finally {
      this.#isBeingChecked = false;
    }
  }

  /** The file exchange of the user, who is signed in. */
  get exchange(): ExchangeSession {
    if (this.exchangeSession === undefined) throw new Refusal(530, "Sign in with USER and PASS first");
    return this.exchangeSession;
  }

  get transfer(): Transfer | undefined {
    return this.#transfer;
  }

  /** The absolute path that the client means. Rejects with `badName`. */
  async pathOf(argument: string): Promise<string> {
    return await this.exchange.realPath(argument.startsWith("/") ? argument : `${this.folder}/${argument}`);
  }

  /** The same where an argument has to be. */
  async pathNamed(argument: string): Promise<string> {
    if (argument === "") throw new Refusal(501, "A name is missing");
    return await this.pathOf(argument);
  }

  /** Opens a port for the next data connection, and closes the one before. Gives its number. */
  async listen(): Promise<number> {
    this.#passive?.close();
    this.#passive = undefined;
    const { control, options } = this.deps;
    this.#passive = await openPassivePort({
      localAddress: control.localAddress,
      peerAddress: control.address,
      ports: options.passivePorts,
      timeoutMs: options.dataTimeoutMs,
      log: this.log,
      finder: this.deps.finder,
    });
    return this.#passive.port;
  }

  /** Whether a port is open for a transfer. */
  get isListening(): boolean {
    return this.#passive !== undefined;
  }

  /** Begins a transfer over the port that is open. */
  beginTransfer(): { readonly transfer: Transfer; readonly port: PassivePort } {
    const port = this.#passive;
    if (port === undefined) throw new Error("no port is open for the transfer");
    this.#passive = undefined;
    this.#letGo();
    const transfer: Transfer = { data: undefined, fault: undefined, startedAtMs: Date.now() };
    this.#transfer = transfer;
    if (this.deps.control.gone.aborted) this.abortTransfer(clientGone());
    return { transfer, port };
  }

  endTransfer(): void {
    this.#transfer = undefined;
  }

  /** Keeps a connection over which all is sent, and which the client has not closed, until the next transfer. */
  keepUnclosed(data: DataConnection): void {
    this.#unclosed = data;
  }

  #letGo(): void {
    this.#unclosed?.letGo();
    this.#unclosed = undefined;
  }

  /** REST and ALLO are for one transfer, also for one that is refused. */
  forgetAnnouncements(): void {
    this.restartAt = 0;
    this.announcedBytes = undefined;
  }

  /** Aborts the transfer under way, if there is one. */
  abortTransfer(fault: DataFault): void {
    if (this.#transfer === undefined) return;
    this.#transfer.fault ??= fault;
    this.#transfer.data?.abort(fault);
    this.#abortWaiting();
  }

  #abortWaiting: () => void = () => undefined;

  /** Calls `abort` when the transfer is aborted before its data connection has come. */
  onAbortWhileWaiting(abort: () => void): void {
    this.#abortWaiting = abort;
  }

  /** The connection ends: uploads left open become partial uploads. */
  async end(): Promise<void> {
    this.#passive?.close();
    this.#passive = undefined;
    this.#letGo();
    await this.exchangeSession?.end();
  }
}

export function clientGone(): DataFault {
  return new DataFault(426, "The control connection is closed");
}
