/** The nodes of a database of PostgreSQL, for the commands of an administrator. */
import { isoTime } from "../../lib/iso-time.ts";
import type { LeaseTable } from "../../store/cluster/lease-table.ts";
import { type NodeState, type ToldNode, tellNodes } from "../../store/cluster/told-nodes.ts";
import { type AdminStore, type StateConfig, withAdminStore } from "./admin-store.ts";
import { WrongUseError } from "./wrong-use-error.ts";

export interface NodeView {
  readonly node: string;
  readonly state: NodeState;
  /** The companies whose work it does. */
  readonly companies: number;
  readonly version: string;
  /** The schema that it knows. */
  readonly schema: number;
  /** What it listens on, by protocol. */
  readonly address: Readonly<Record<string, string>>;
  readonly startedAt: string;
  readonly seenAt: string;
  /** How long ago that was, by the clock of the database. */
  readonly silentMs: number;
}

function viewOf(node: ToldNode): NodeView {
  const { name, state, companyIds, version, schema, address, startedAt, seenAt, silentMs } = node;
  return {
    ...{ node: name, state, companies: companyIds.length, version, schema, address },
    ...{ startedAt: isoTime(startedAt), seenAt: isoTime(seenAt), silentMs },
  };
}

function leasesOf({ leases }: Pick<AdminStore, "leases">): LeaseTable {
  if (leases !== undefined) return leases;
  throw new WrongUseError(
    "one process has this state directory: there are several nodes only with a database of PostgreSQL (`store`)",
  );
}

/** By name. Those that have stopped or are silent too. */
export async function listNodes(config: StateConfig): Promise<readonly NodeView[]> {
  return await withAdminStore(config, async (store) => (await tellNodes(leasesOf(store))).map(viewOf));
}

/** Asks a node to give its companies away, or to take some again; gives it as it is then. */
export async function orderNode(
  config: StateConfig,
  { name, isToDrain }: { readonly name: string; readonly isToDrain: boolean },
): Promise<NodeView> {
  await withAdminStore(config, async (store) => {
    if (await leasesOf(store).order(name, isToDrain)) return;
    throw new WrongUseError(`there is no node ${name}: \`dropgate nodes\` lists them`);
  });
  const node = (await listNodes(config)).find((one) => one.node === name);
  if (node === undefined) throw new Error(`the node ${name} is gone`);
  return node;
}
