/** This process for those parts that share the tree with other nodes. */
import type { TreeNode } from "../../exchange/exchange-deps.ts";
import type { Parts } from "./daemon-parts.ts";

/** Undefined on SQLite, where one process has the tree. A node that has been silent for the time of a lease has lost its own. */
export function treeNodeOf({
  cluster: { incarnation },
  store: { leases },
  config,
}: Pick<Parts, "cluster" | "store" | "config">): TreeNode | undefined {
  if (leases === undefined || incarnation === undefined) return undefined;
  const { leaseMs } = config.cluster;
  return {
    incarnation,
    async isLive(other) {
      const found = (await leases.nodes()).find((node) => node.incarnation === other);
      return found !== undefined && !found.isStopped && found.silentMs < leaseMs;
    },
  };
}
