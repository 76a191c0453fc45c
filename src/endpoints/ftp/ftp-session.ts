/** What one client has said so far, and what its commands work with. */
import type { ClientLog } from "../../exchange/connections/client-log.ts";
import type { ExchangeSession, FileExchange } from "../../exchange/exchange-session.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { SignedInUser, SignIn } from "../../sign-in/sign-in.ts";
import type { DataConnection } from "./data-connection.ts";
import { DataFault } from "./data-fault.ts";
import type { FtpOptions } from "./ftp-options.ts";
import { type FactName, factNames } from "./listing.ts";
import { type PassivePort, openPassivePort } from "./passive-port.ts";
import { Refusal, type Reply, reply } from "./replies.ts";
import type { TlsSession } from "./tls-session.ts";

/** The control connection as commands see it. */
export interface Control {
  readonly id: string;
  /** The client's address, normalised. */
  readonly address: string;
  /** The address on this machine that the client has connected to, normalised. */
  readonly localAddress: string;
  readonly isSecure: boolean;
  /** Aborts as soon as the client is known to be gone. */
  readonly gone: AbortSignal;
  send(reply: Reply): void;
  /** Sends the reply in clear, drops what came behind the command, and resolves when TLS is there or the client is gone. */
  startTls(reply: Reply): Promise<void>;
  /**
   * The user has signed in: the login deadline is over, the idle time-out begins. False, and nothing of it, when as many
   * as may be are signed in.
   */
  signIn(): boolean;
  /** Sends the reply and ends the connection. */
  leave(reply: Reply): void;
}

export interface FtpSessionDeps {
  readonly control: Control;
  readonly signIn: SignIn;
  readonly exchange: FileExchange;
  readonly options: FtpOptions;
  /** TLS of this client; undefined when there is no certificate. */
  readonly tls: TlsSession | undefined;
  readonly clientLog: ClientLog;
  readonly received: ((bytes: number) => void) | undefined;
}

/** A transfer under way. */
export interface Transfer {
  data: DataConnection | undefined;
  /** Why it is to end. */
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
  /** EPSV ALL was said: PASV is not allowed any more. */
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
  /** Whether a password is being checked: then the client waits for us, and not we for the client. */
  #isBeingChecked = false;

  constructor(deps: FtpSessionDeps, isImplicit: boolean) {
    this.deps = deps;
    this.isDataProtected = isImplicit;
  }

  get log(): Logger {
    return this.deps.clientLog.log;
  }

  /** The client has not signed in in time. */
  missDeadline(): void {
    const { control, options, signIn, clientLog } = this.deps;
    clientLog.report("info", { afterMs: options.loginTimeoutMs }, "ftp sign-in not completed in time");
    if (!this.#isBeingChecked) signIn.reportSilence(control.address);
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

  /** Everything has been sent over it, and the client has not closed it: it is kept until the next transfer. */
  keepUnclosed(data: DataConnection): void {
    this.#unclosed = data;
  }

  #letGo(): void {
    this.#unclosed?.letGo();
    this.#unclosed = undefined;
  }

  /** What REST and ALLO said was for one transfer, also for one that was refused. */
  forgetAnnouncements(): void {
    this.restartAt = 0;
    this.announcedBytes = undefined;
  }

  /** Breaks off the transfer under way, if there is one. */
  abortTransfer(fault: DataFault): void {
    if (this.#transfer === undefined) return;
    this.#transfer.fault ??= fault;
    this.#transfer.data?.abort(fault);
    this.#abortWaiting();
  }

  #abortWaiting: () => void = () => undefined;

  /** `abort` is called when the transfer is broken off while its data connection is still to come. */
  onAbortWhileWaiting(abort: () => void): void {
    this.#abortWaiting = abort;
  }

  /** The client is gone, or is to go: what it left open becomes unfinished parts. */
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
