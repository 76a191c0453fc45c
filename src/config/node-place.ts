/** The name of this node, and what it has alone. */
import { hostname } from "node:os";
import { join } from "node:path";
import type { Config } from "./schema.ts";

export interface NodePlace {
  readonly node: string;
  /** Its lock, its process id, what it tells `explain`. */
  readonly nodeDir: string;
}

/** The folder of the nodes in a state directory that they share. */
const nodesFolder = "nodes";

/** What a name of a machine has besides is no part of a name of a node. */
function nameOfMachine(): string {
  return (
    hostname()
      .replaceAll(/[^A-Za-z0-9._-]/g, "-")
      .replace(/^[^A-Za-z0-9]+/, "") || "node"
  );
}

/** With SQLite there is one process for a state directory, which has all of it. */
export function nodePlaceOf({
  stateDir,
  store,
  cluster,
}: Pick<Config, "stateDir" | "store" | "cluster">): NodePlace {
  const node = cluster.node ?? nameOfMachine();
  if (store === undefined) return { node, nodeDir: stateDir };
  return { node, nodeDir: cluster.nodeDir ?? join(stateDir, nodesFolder, node) };
}
