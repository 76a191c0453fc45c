/** Keeps the stops of a load in the order of their visits (docs/http-api.md, "Loads"). */
import { setImmediate } from "node:timers/promises";
import { visitOrder } from "../../domain/stop/visit-order.ts";
import type { Transaction } from "../../store/database/group-commit.ts";
import { listPlacedStops, saveLoadPosition } from "../../store/stops/loads.ts";
import { forgetEta } from "../../store/stops/route-reports.ts";

/** Others get a turn of the event loop between so many stops. */
const stopsInTurn = 64;

/**
 * Gives each stop of the load its place. Called in the transaction that has put a stop on the load, taken one off or
 * changed a `stopSeq`, after all of that is written.
 */
export async function orderStopsOfLoad(tx: Transaction, loadId: number): Promise<void> {
  let moved = 0;
  for (const [loadPosition, stop] of visitOrder(await listPlacedStops(tx, loadId)).entries()) {
    if (stop.loadPosition === loadPosition) continue;
    moved += 1;
    if (moved % stopsInTurn === 0) await setImmediate();
    await saveLoadPosition(tx, { id: stop.id, loadPosition });
  }
  if (moved > 0) await forgetEta(tx, loadId);
}
