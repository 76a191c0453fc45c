/** Whether a daemon does what a command asks for: on this machine, or as a node of the same database on another one. */
import { nodePlaceOf } from "../../config/node-place.ts";
import type { KnownNode } from "../../store/cluster/lease-table.ts";
import { isSilent } from "../../store/cluster/live-nodes.ts";
import type { Store } from "../../store/database/database.ts";
import { findProcessLockHolder } from "../../store/database/process-lock.ts";
import type { RunningDaemons } from "../../store/cluster/running-daemons.ts";
import type { StateConfig } from "./admin-store.ts";

export { areRunning, type RunningDaemons } from "../../store/cluster/running-daemons.ts";

/** The nodes that are there; none on SQLite. */
export async function findLiveNodes({ leases }: Pick<Store, "leases">): Promise<readonly KnownNode[]> {
  const nodes = (await leases?.nodes()) ?? [];
  return nodes.filter((node) => !node.isStopped && !isSilent(node.silentMs));
}

/** Asks the kernel about this machine, and on PostgreSQL the table of the nodes about the others. */
export async function findRunningDaemons(
  config: StateConfig,
  store: Pick<Store, "leases">,
): Promise<RunningDaemons> {
  const daemonPid = findProcessLockHolder(nodePlaceOf(config).nodeDir);
  if (store.leases === undefined) return { daemonPid };
  return { daemonPid, liveNodes: (await findLiveNodes(store)).map(({ name }) => name) };
}
