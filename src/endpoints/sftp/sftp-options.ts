import type { ConnectionLimits } from "../../sign-in/connection-gate.ts";

/** Settings of the SFTP endpoint; names and meaning as in the configuration file under `sftp`. */
export interface SftpOptions extends ConnectionLimits {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Takes clients that know only older algorithms (SHA-1, CBC, NIST curves, RSA host key). */
  readonly legacyAlgorithms: boolean;
  /** From the first byte of the connection to a completed sign-in. */
  readonly loginTimeoutMs: number;
  /** Refused attempts, probes of unknown keys included, after which the connection is ended. */
  readonly maxAuthAttempts: number;
  readonly maxSessionsPerConnection: number;
  /** Files and folders one session may hold open. */
  readonly maxOpenHandles: number;
  /** A signed-in connection without a request for so long is ended. */
  readonly idleTimeoutMs: number;
  /** Shown before the sign-in; empty or left out for none. */
  readonly banner?: string | undefined;
}
