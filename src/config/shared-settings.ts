/** The settings that all nodes of a database must have in common, as one short text that nodes compare. */
import { hash } from "node:crypto";
import type { Config } from "./schema.ts";

/** What a machine may have otherwise: its places and log, where it listens and with which certificate, its name and size. */
const ofMachine: readonly string[] = [
  ...["stateDir", "store", "log"],
  ...["http.host", "http.port", "http.tls.certFile", "http.tls.keyFile", "http.tls.keyPassphrase"],
  ...["console.host", "console.port", "sftp.host", "sftp.port"],
  ...["ftp.host", "ftp.port", "ftp.implicitPort", "ftp.passivePorts", "ftp.publicAddress"],
  ...["ftp.tls.certFile", "ftp.tls.keyFile", "ftp.tls.keyPassphrase"],
  ...["inbound.parserThreads", "inbound.parserMemoryMb", "cluster.node", "cluster.nodeDir"],
];

/** In the order of their names: two files may have them in different ones. */
function sorted(value: unknown, without: readonly string[] = []): unknown {
  if (typeof value !== "object" || value === null || "reveal" in value) return value;
  if (Array.isArray(value)) return value.map((one) => sorted(one));
  const entries = Object.entries(value).filter(([name]) => !without.includes(name));
  entries.sort(([one], [other]) => (one < other ? -1 : 1));
  const below = (name: string) =>
    without.flatMap((path) => (path.startsWith(`${name}.`) ? [path.slice(name.length + 1)] : []));
  return Object.fromEntries(entries.map(([name, one]) => [name, sorted(one, below(name))]));
}

/** All others. Secrets count as given or not: their values stay where they are. */
export function sharedSettingsHash(config: Config): string {
  return hash("sha256", JSON.stringify(sorted(config, ofMachine)), "hex").slice(0, 16);
}
