import type { ClientServerOptions } from "../../sign-in/client-connections.ts";

/** Settings of the SFTP endpoint; names and meaning as in the configuration file under `sftp`. */
export interface SftpOptions extends ClientServerOptions {
  /** Takes clients that know only older algorithms (SHA-1, CBC, NIST curves, RSA host key). */
  readonly legacyAlgorithms: boolean;
  readonly maxSessionsPerConnection: number;
  /** Files and folders one session may hold open. */
  readonly maxOpenHandles: number;
}
