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
import { flag, integer, section, size } from "../reader/setting.ts";

const listener = {
  enabled: flag("Whether there is an SFTP server at all.", { default: true, needsRestart: true }),
  host: listenHost,
  port: listenPort(2222, "Port to listen on; 0 takes any free one, which the log names."),
  legacyAlgorithms: flag(
    "Also offer old algorithms (SHA-1 key exchange and MACs, CBC ciphers, an RSA host key) for clients that know no others. The log names what a refused client offered.",
    { default: false, needsRestart: true },
  ),
  banner: clientBanner,
  proxyProtocolFrom: balancers("SFTP"),
};

const limits = {
  ...signInLimits,
  maxConnections: maxConnections(500, "Open connections that are signed in."),
  ...connectionLimits,
  maxSessionsPerConnection: integer("SFTP sessions within one connection.", { default: 4, range: [1, 64] }),
  maxOpenHandles: integer("Open files and folders in one session.", { default: 128, range: [2, 10_000] }),
  idleTimeoutMs: idleTimeout("How long a signed-in client may be silent before its connection is closed."),
  maxUploadBytes: size(
    "The largest upload; writing beyond it fails. Stop files are besides held to inbound.maxFileBytes.",
    { default: 2 ** 30, range: [1_000, 2 ** 40] },
  ),
};

export const sftpSection = section("The built-in SFTP server. Users see the tree of their company as /.", {
  ...listener,
  ...limits,
});
