import { isScalar, type ParsedNode } from "yaml";
import type { ConfigFault } from "./config-fault.ts";
import type { Place } from "./parse-yaml.ts";
import type { SecretSources } from "./secret.ts";

/** Marks a value that could not be read; its fault has been noted. */
export const unreadable = Symbol("unreadable");

/** A node of the YAML document together with where it stands; a key without a value has no node. */
export interface Found {
  readonly path: string;
  readonly node: ParsedNode | null;
  /** Where faults of this setting are shown: the value, or the key when there is no value. */
  readonly offset: number;
}

/** What one pass over the document collects. */
export interface Reading extends SecretSources {
  /** Whether a secret that cannot be read is a fault. */
  readonly needsSecrets: boolean;
  readonly faults: ConfigFault[];
  readonly warnings: ConfigFault[];
  /** Where each setting that stands in the file begins, by path. */
  readonly places: Map<string, Place>;
  placeOf(offset: number): Place;
}

/** Notes a fault at a node and gives the marker for "no value". */
export function refuse(reading: Reading, found: Found, message: string): typeof unreadable {
  reading.faults.push({ ...reading.placeOf(found.offset), path: found.path, message });
  return unreadable;
}

export function isEmptyNode(node: ParsedNode | null): boolean {
  return node === null || (isScalar(node) && node.value === null);
}

/** A value as a fault shows it. */
export function quoted(value: unknown): string {
  const text = typeof value === "string" ? value : String(value);
  return `\`${text.length > 60 ? `${text.slice(0, 60)}…` : text}\``;
}

export function joinPath(parent: string, name: string): string {
  return parent === "" ? name : `${parent}.${name}`;
}
