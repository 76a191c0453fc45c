/**
 * When a load is completed (specification/events.md#completion-of-a-load): by a report of the driver, or because the
 * host has deleted what was left to do.
 */
import type { LoadHeader } from "../../domain/load/load.ts";
import type { LoadExecution } from "../../domain/execution/stop-execution.ts";
import { isFinalStopStatus } from "../../domain/stop/stop-status.ts";
import { mustReturnToDepot } from "../../domain/execution/stop-visits.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { findStoredLoadById, type StoredLoad } from "../../store/stops/load-queries.ts";
import { updateLoadState } from "../../store/stops/loads.ts";
import { recordEvent } from "../consequences/record-events.ts";
import { listStopStates } from "../../store/stops/route-stops.ts";
import { utcDateTime } from "../stops/cancellation-request.ts";

/** A load with its header and its execution read. */
export interface ReadLoad {
  readonly load: StoredLoad;
  readonly header: LoadHeader;
  readonly execution: LoadExecution;
}

/**
 * Whether nothing is left to do on a load under way: every stop is final, and it is back at the depot if it must be. A
 * load without stops is done when it has left its origin.
 */
export async function isLoadDone(tx: Transaction, { load, header, execution }: ReadLoad): Promise<boolean> {
  if (load.status !== 40) return false;
  if (mustReturnToDepot(header) && execution.depotArrivalDTTM === undefined) return false;
  const states = await listStopStates(tx, load.id);
  return states.length > 0 ? states.every(isFinalStopStatus) : execution.originDepartureDTTM !== undefined;
}

/** Completes the load (90, 7005) when a stop was taken from it and nothing is left; its end is now. */
export async function completeLoadWithoutStop(
  tx: Transaction,
  change: { readonly companyId: number; readonly loadId: number; readonly now: number },
): Promise<void> {
  const { companyId, loadId, now } = change;
  const load = await findStoredLoadById(tx, { id: loadId });
  if (load === undefined) return;
  const header = JSON.parse(load.body) as LoadHeader;
  const executed = JSON.parse(load.execution) as LoadExecution;
  if (!(await isLoadDone(tx, { load, header, execution: executed }))) return;
  const end = { actualEndDTTM: utcDateTime(now), actualEndTimeZone: "UTC" };
  const execution = JSON.stringify({ ...executed, ...end });
  await updateLoadState(tx, { ...load, status: 90, execution, updatedAt: now });
  await recordEvent(tx, { companyId, kind: "loadCompleted", loadNbr: load.loadNbr, recordedAt: now });
}
