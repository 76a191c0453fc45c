/** The settings that all nodes of a database must have in common, as one short text that nodes compare. */
import { hash } from "node:crypto";
import type { Config } from "./schema.ts";

/** What a machine may have otherwise, by section: where it listens and with which certificate, what it is called and can do. */
const ofMachine: Readonly<Record<string, readonly string[]>> = {
  http: ["host", "port", "tls.certFile", "tls.keyFile", "tls.keyPassphrase"],
  console: ["host", "port"],
  sftp: ["host", "port"],
  ftp: [
    ...["host", "port", "implicitPort", "passivePorts", "publicAddress"],
    ...["tls.certFile", "tls.keyFile", "tls.keyPassphrase"],
  ],
  inbound: ["parserThreads", "parserMemoryMb"],
  cluster: ["node", "nodeDir"],
};

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

/**
 * Everything but the place of the state, the log, the database and what a machine may have otherwise. Secrets count as given
 * or not: their values stay where they are.
 */
export function sharedSettingsHash({ stateDir: _, store: __, log: ___, ...shared }: Config): string {
  const sections = Object.entries(shared).map(([name, section]) => [name, sorted(section, ofMachine[name])]);
  sections.sort(([one], [other]) => (String(one) < String(other) ? -1 : 1));
  return hash("sha256", JSON.stringify(sections), "hex").slice(0, 16);
}
