import type { TlsOptions } from "../../lib/tls-settings.ts";
import type { ClientServerOptions } from "../../sign-in/client-connections.ts";

/** Settings of the FTP endpoint; names and meaning as in the configuration file under `ftp`, but for `tls`. */
export interface FtpOptions extends ClientServerOptions {
  /** Where TLS begins with the first byte; left out for none. */
  readonly implicitPort?: number | undefined;
  readonly tls?: TlsOptions | undefined;
  /** Takes passwords and files without TLS. */
  readonly allowPlain: boolean;
  /** Data connections have to resume a TLS session of their control connection. */
  readonly requireSessionReuse: boolean;
  /** Left out: any free port. */
  readonly passivePorts?: { readonly from: number; readonly to: number } | undefined;
  /** The IPv4 address that PASV names to clients on other machines; left out for that of the connection. */
  readonly publicAddress?: string | undefined;
  /** How long a data connection may take to come, and how long it may stand still. */
  readonly dataTimeoutMs: number;
}
