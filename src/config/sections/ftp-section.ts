import { Type } from "@sinclair/typebox";
import {
  balancers,
  clientBanner,
  connectionLimits,
  idleTimeout,
  listenHost,
  listenPort,
  maxConnections,
  signInLimits,
} from "./listener-settings.ts";
import { flag, integer, optional, section, text } from "../reader/setting.ts";
import { tlsSection } from "./tls-section.ts";

const port = { range: [1, 65_535] } as const;

const listener = {
  enabled: flag("Whether there is an FTP server at all. It needs ftp.tls, or ftp.allowPlain.", {
    default: false,
    needsRestart: true,
  }),
  host: listenHost,
  port: listenPort(
    2121,
    "Port to listen on, for plain FTP and explicit TLS; 0 takes any free one, which the log names.",
  ),
  implicitPort: optional(integer)(
    "A second port where TLS begins with the first byte, for clients that know no other way; 0 takes any free one.",
    { range: [0, 65_535], needsRestart: true, example: 2990 },
  ),
  banner: clientBanner,
  proxyProtocolFrom: balancers("FTP, connections of data too"),
};

const protection = {
  tls: Type.Optional(
    tlsSection(
      "The certificate of FTPS. Certificate and key are read again at a reload; switching TLS on or off needs a restart.",
    ),
  ),
  allowPlain: flag(
    "Take passwords and files without TLS. Anybody on the way can read and change them; when a client dies during an upload, only its control connection shows that the file is not complete.",
  ),
  requireSessionReuse: flag(
    "Refuse data connections that do not resume the TLS session of their control connection. Nobody at the client's address can take its place then, but some clients (Python's ftplib among them) cannot do it.",
  ),
};

const passive = {
  passivePorts: optional(section)(
    "The ports of data connections, to be opened in the firewall; left out, any free port. Each client takes at most one at a time.",
    {
      from: integer("The first port.", { ...port, default: 50_000 }),
      to: integer("The last port.", { ...port, default: 50_500 }),
    },
  ),
  publicAddress: optional(text)(
    "The IPv4 address that the server names to clients for data connections when this machine is behind address translation. Clients on this machine get the address of their own connection.",
    {
      maxLength: 15,
      pattern: "^((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\\.){3}(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])$",
      form: "an IPv4 address",
      example: "192.0.2.7",
    },
  ),
};

const limits = {
  ...signInLimits,
  maxConnections: maxConnections(500, "Open connections that are signed in; those of data are not counted."),
  ...connectionLimits,
  idleTimeoutMs: idleTimeout(
    "How long a signed-in client may be silent, without a transfer, before its connection is closed.",
  ),
  dataTimeoutMs: integer(
    "How long a data connection may take to come, and how long a transfer may stand still.",
    { default: 60_000, range: [1_000, 3_600_000] },
  ),
};

export const ftpSection = section(
  "The built-in FTP and FTPS server, passive mode only. Users, tree and rights are those of SFTP; the largest upload is sftp.maxUploadBytes.",
  { ...listener, ...protection, ...passive, ...limits },
);
