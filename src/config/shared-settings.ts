/** The settings that all nodes of a database must have in common, as one short text that nodes compare. */
import { hash } from "node:crypto";
import type { Config } from "./schema.ts";

/** Of the sections below, what a machine may have otherwise. */
const ofMachine: ReadonlySet<string> = new Set(["parserThreads", "parserMemoryMb", "node", "nodeDir"]);

/** In the order of their names: two files may have them in different ones. */
function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null || "reveal" in value) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const entries = Object.entries(value).filter(([name]) => !ofMachine.has(name));
  entries.sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([name, one]) => [name, sorted(one)]));
}

/**
 * Companies with all that is theirs, integrations, retention, alerts, events, and the rules of `inbound`, `security` and
 * `cluster`; not where a node listens and what it logs. Secrets count as given or not: their values stay where they are.
 */
export function sharedSettingsHash(config: Config): string {
  const { inbound, events, storage, retention, alerts, security, companies, integrations, cluster } = config;
  const shared = { inbound, events, storage, retention, alerts, security, companies, integrations, cluster };
  return hash("sha256", JSON.stringify(sorted(shared)), "hex").slice(0, 16);
}
