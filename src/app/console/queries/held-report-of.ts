import { listLiveNodes } from "../../../store/cluster/live-nodes.ts";
import { type Held, readHeldReport } from "../../watch/shown/held-report.ts";
import type { QueryContext } from "../query-context.ts";

/** What this daemon holds, or all nodes do. */
export async function heldReportOf({ read, stateDir }: QueryContext): Promise<Held | undefined> {
  const nodes = [...(await listLiveNodes(read))].map(
    ([name, { incarnation }]) => [name, incarnation] as const,
  );
  return await readHeldReport(stateDir, { pid: process.pid, nodes: new Map(nodes) });
}
