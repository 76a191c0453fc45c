/** The nodes of a database, each with how it stands and what it has: for commands and the console. */
import type { KnownNode, LeaseTable } from "./lease-table.ts";
import { isSilent } from "./live-nodes.ts";

export type NodeState = "working" | "draining" | "silent" | "stopped";

export interface ToldNode extends Omit<KnownNode, "isDraining" | "isStopped" | "lanes"> {
  readonly state: NodeState;
  /** Those whose work it does, by their ids. */
  readonly companyIds: readonly number[];
}

function stateOf({ isStopped, isDraining, silentMs }: KnownNode): NodeState {
  if (isStopped) return "stopped";
  if (isSilent(silentMs)) return "silent";
  return isDraining ? "draining" : "working";
}

/** By name. Those that have stopped or are silent too. */
export async function tellNodes(leases: Pick<LeaseTable, "nodes" | "owners">): Promise<readonly ToldNode[]> {
  const [nodes, owners] = await Promise.all([leases.nodes(), leases.owners()]);
  // 0 is what concerns no company.
  const ofNodes = Map.groupBy(
    owners.filter(({ companyId }) => companyId !== 0),
    ({ owner }) => owner,
  );
  return nodes.map((node) => {
    const { isDraining: _draining, isStopped: _stopped, lanes: _lanes, ...rest } = node;
    const companyIds = (ofNodes.get(node.name) ?? []).map(({ companyId }) => companyId);
    return { ...rest, state: stateOf(node), companyIds };
  });
}
