/** The name of this node, and what it has alone. */
import { hostname } from "node:os";
import { join } from "node:path";
import type { Config } from "./schema.ts";

export interface NodePlace {
  readonly node: string;
  /** Its lock, its process id, its incarnation, and exports that are being made. */
  readonly nodeDir: string;
  /** What it shows the other nodes: always on the tree that they share. */
  readonly shownDir: string;
}

export type NodeConfig = Pick<Config, "stateDir" | "store"> & Partial<Pick<Config, "cluster">>;

/** The folder of the nodes in a state directory that they share. */
export const nodesFolderName = "nodes";

/** What a name of a machine has besides is no part of a name of a node. */
function nameOfMachine(): string {
  return (
    hostname()
      .replaceAll(/[^A-Za-z0-9._-]/g, "-")
      .replace(/^[^A-Za-z0-9]+/, "") || "node"
  );
}

/** With SQLite there is one process for a state directory, which has all of it. */
export function nodePlaceOf({ stateDir, store, cluster }: NodeConfig): NodePlace {
  const node = cluster?.node ?? nameOfMachine();
  if (store === undefined) return { node, nodeDir: stateDir, shownDir: stateDir };
  const shownDir = join(stateDir, nodesFolderName, node);
  return { node, nodeDir: cluster?.nodeDir ?? shownDir, shownDir };
}
