import type { ConnectionLimits } from "../../sign-in/connection-gate.ts";

export interface FtpTlsOptions {
  /** Certificate with its chain, PEM. */
  readonly cert: string;
  /** Private key, PEM. */
  readonly key: string;
  readonly passphrase?: string;
  readonly minVersion: "TLSv1.2" | "TLSv1.3";
  /** Also suites without forward secrecy, and with CBC; not when left out. */
  readonly legacyCiphers?: boolean;
}

/** Settings of the FTP endpoint; names and meaning as in the configuration file under `ftp`, but for `tls`. */
export interface FtpOptions extends ConnectionLimits {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Where TLS begins with the first byte; left out for none. */
  readonly implicitPort?: number | undefined;
  readonly tls?: FtpTlsOptions | undefined;
  /** Takes passwords and files without TLS. */
  readonly allowPlain: boolean;
  /** Data connections have to resume a TLS session of their control connection. */
  readonly requireSessionReuse: boolean;
  /** Left out: any free port. */
  readonly passivePorts?: { readonly from: number; readonly to: number } | undefined;
  /** The IPv4 address that clients from other machines are told to connect to; left out for that of the connection. */
  readonly publicAddress?: string | undefined;
  /** From the first byte of the connection to a completed sign-in. */
  readonly loginTimeoutMs: number;
  /** Refused attempts after which the connection is ended. */
  readonly maxAuthAttempts: number;
  /** A signed-in connection without a command or a transfer for so long is ended. */
  readonly idleTimeoutMs: number;
  /** How long a data connection may take to come, and how long it may stand still. */
  readonly dataTimeoutMs: number;
  /** Shown before the sign-in; empty or left out for none. */
  readonly banner?: string | undefined;
}
