import { listLiveNodes } from "../../../store/cluster/live-nodes.ts";
import { type Held, readHeldReport } from "../../watch/held-report.ts";
import type { QueryContext } from "../query-context.ts";

/** What this daemon holds, or all nodes do. */
export async function heldReportOf({ read, stateDir }: QueryContext): Promise<Held | undefined> {
  return await readHeldReport(stateDir, { pid: process.pid, nodes: await listLiveNodes(read) });
}
