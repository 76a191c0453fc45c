/** Keeps the stops of a load in the order of their visits (docs/http-api.md, "Loads"). */
import { visitOrder } from "../../domain/stop/visit-order.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { listPlacedStops, saveLoadPosition } from "../../store/stops/loads.ts";
import { forgetEta } from "../../store/stops/route-reports.ts";

/**
 * Gives each stop of the load its place. Called in the transaction that has put a stop on the load, taken one off or
 * changed a `stopSeq`, after all of that is written.
 */
export async function orderStopsOfLoad(tx: Transaction, loadId: number): Promise<void> {
  let isMoved = false;
  for (const [loadPosition, stop] of visitOrder(await listPlacedStops(tx, loadId)).entries()) {
    if (stop.loadPosition === loadPosition) continue;
    isMoved = true;
    await saveLoadPosition(tx, { id: stop.id, loadPosition });
  }
  if (isMoved) await forgetEta(tx, { loadId });
}
