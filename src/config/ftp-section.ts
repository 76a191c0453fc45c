import { Type } from "@sinclair/typebox";
import { flag, host, integer, section, text } from "./setting.ts";
import { tlsSection } from "./tls-section.ts";

const port = { minimum: 1, maximum: 65_535 };

const listener = {
  enabled: flag({
    default: false,
    needsRestart: true,
    description: "Whether there is an FTP server at all. It needs ftp.tls, or ftp.allowPlain.",
  }),
  host: host({
    default: "127.0.0.1",
    needsRestart: true,
    description: "Address or host name to listen on; 0.0.0.0 or :: for all addresses of the machine.",
  }),
  port: integer({
    default: 2121,
    minimum: 0,
    maximum: 65_535,
    needsRestart: true,
    description:
      "Port to listen on, for plain FTP and explicit TLS; 0 takes any free one, which the log names.",
  }),
  implicitPort: Type.Optional(
    integer({
      minimum: 0,
      maximum: 65_535,
      needsRestart: true,
      example: 2990,
      description:
        "A second port where TLS begins with the first byte, for clients that know no other way; 0 takes any free one.",
    }),
  ),
  banner: Type.Optional(
    text({
      maxLength: 2_000,
      pattern: "^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f]+$",
      form: "text without control characters",
      needsRestart: true,
      example: "Authorised use only.",
      description: "Text that clients show before the sign-in.",
    }),
  ),
};

const protection = {
  tls: Type.Optional(
    tlsSection(
      "The certificate of FTPS. Certificate and key are read again at a reload; switching TLS on or off needs a restart.",
    ),
  ),
  allowPlain: flag({
    default: false,
    description:
      "Take passwords and files without TLS. Anybody on the way can read and change them; an upload that a dying client broke off can be told from a whole one only by its control connection.",
  }),
  requireSessionReuse: flag({
    default: false,
    description:
      "Refuse data connections that do not resume the TLS session of their control connection. Nobody at the client's address can take its place then, but some clients (Python's ftplib among them) cannot do it.",
  }),
};

const passive = {
  passivePorts: Type.Optional(
    section(
      {
        from: integer({ ...port, default: 50_000, description: "The first port." }),
        to: integer({ ...port, default: 50_500, description: "The last port." }),
      },
      {
        description:
          "The ports of data connections, to be opened in the firewall; left out, any free port. Each client takes at most one at a time.",
      },
    ),
  ),
  publicAddress: Type.Optional(
    text({
      maxLength: 15,
      pattern: "^((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\\.){3}(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])$",
      form: "an IPv4 address",
      example: "192.0.2.7",
      description:
        "The IPv4 address that clients are told for data connections when this machine lies behind address translation. Clients on this machine are not told it.",
    }),
  ),
};

const limits = {
  loginTimeoutMs: integer({
    default: 30_000,
    minimum: 1_000,
    maximum: 600_000,
    description: "How long a client may take from connecting to being signed in.",
  }),
  maxAuthAttempts: integer({
    default: 6,
    minimum: 1,
    maximum: 100,
    description: "Failed sign-ins on one connection before it is closed.",
  }),
  maxConnections: integer({
    default: 500,
    minimum: 1,
    maximum: 100_000,
    description: "Open connections in all, signed in or not; those of data are not counted.",
  }),
  maxConnectionsPerAddress: integer({
    default: 100,
    minimum: 1,
    maximum: 100_000,
    description: "Open connections from one address.",
  }),
  idleTimeoutMs: integer({
    default: 900_000,
    minimum: 1_000,
    maximum: 86_400_000,
    description:
      "How long a signed-in client may be silent, without a transfer, before its connection is closed.",
  }),
  dataTimeoutMs: integer({
    default: 60_000,
    minimum: 1_000,
    maximum: 3_600_000,
    description: "How long a data connection may take to come, and how long a transfer may stand still.",
  }),
};

export const ftpSection = section(
  { ...listener, ...protection, ...passive, ...limits },
  {
    description:
      "The built-in FTP and FTPS server, passive mode only. Users, tree and rights are those of SFTP; the largest upload is sftp.maxUploadBytes.",
  },
);
