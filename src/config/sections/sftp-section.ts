import {
  clientBanner,
  connectionLimits,
  idleTimeout,
  listenHost,
  listenPort,
  maxConnections,
  signInLimits,
} from "./listener-settings.ts";
import { flag, integer, section, size } from "../reader/setting.ts";

const listener = {
  enabled: flag({
    default: true,
    needsRestart: true,
    description: "Whether there is an SFTP server at all.",
  }),
  host: listenHost,
  port: listenPort(2222, "Port to listen on; 0 takes any free one, which the log names."),
  legacyAlgorithms: flag({
    default: false,
    needsRestart: true,
    description:
      "Also offer old algorithms (SHA-1 key exchange and MACs, CBC ciphers, an RSA host key) for clients that know no others. The log names what a refused client offered.",
  }),
  banner: clientBanner,
};

const limits = {
  ...signInLimits,
  maxConnections: maxConnections(500, "Open connections that are signed in."),
  ...connectionLimits,
  maxSessionsPerConnection: integer({
    default: 4,
    range: [1, 64],
    description: "SFTP sessions within one connection.",
  }),
  maxOpenHandles: integer({
    default: 128,
    range: [2, 10_000],
    description: "Open files and folders in one session.",
  }),
  idleTimeoutMs: idleTimeout("How long a signed-in client may be silent before its connection is closed."),
  maxUploadBytes: size({
    default: 2 ** 30,
    range: [1_000, 2 ** 40],
    description:
      "The largest upload; writing beyond it fails. Stop files are besides held to inbound.maxFileBytes.",
  }),
};

export const sftpSection = section(
  { ...listener, ...limits },
  { description: "The built-in SFTP server. Users see the tree of their company as /." },
);
