import { Type } from "@sinclair/typebox";
import { flag, host, integer, section, size, text } from "./setting.ts";

const listener = {
  enabled: flag({
    default: true,
    needsRestart: true,
    description: "Whether there is an SFTP server at all.",
  }),
  host: host({
    default: "127.0.0.1",
    needsRestart: true,
    description: "Address or host name to listen on; 0.0.0.0 or :: for all addresses of the machine.",
  }),
  port: integer({
    default: 2222,
    minimum: 0,
    maximum: 65_535,
    needsRestart: true,
    description: "Port to listen on; 0 takes any free one, which the log names.",
  }),
  legacyAlgorithms: flag({
    default: false,
    needsRestart: true,
    description:
      "Also offer old algorithms (SHA-1 key exchange and MACs, CBC ciphers, an RSA host key) for clients that know no others. The log names what a refused client offered.",
  }),
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
    description: "Open connections in all, signed in or not.",
  }),
  maxConnectionsPerAddress: integer({
    default: 100,
    minimum: 1,
    maximum: 100_000,
    description: "Open connections from one address.",
  }),
  maxSessionsPerConnection: integer({
    default: 4,
    minimum: 1,
    maximum: 64,
    description: "SFTP sessions within one connection.",
  }),
  maxOpenHandles: integer({
    default: 128,
    minimum: 2,
    maximum: 10_000,
    description: "Open files and folders in one session.",
  }),
  idleTimeoutMs: integer({
    default: 900_000,
    minimum: 1_000,
    maximum: 86_400_000,
    description: "How long a signed-in client may be silent before its connection is closed.",
  }),
  maxUploadBytes: size({
    default: 2 ** 30,
    minimum: 1_000,
    maximum: 2 ** 40,
    description:
      "The largest upload; writing beyond it fails. Stop files are besides held to inbound.maxFileBytes.",
  }),
};

export const sftpSection = section(
  { ...listener, ...limits },
  { description: "The built-in SFTP server. Users see the tree of their company as /." },
);
