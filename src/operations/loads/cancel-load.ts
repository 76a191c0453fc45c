/**
 * Cancels a load that has no driver, with a reason; its stops become unplanned
 * (specification/stop-states.md#actions-on-a-load).
 */
import { releaseAllStops, updateLoadState } from "../../store/stops/loads.ts";
import { recordEvent } from "../consequences/record-events.ts";
import { cancellationOf, readLoadCancellation } from "../stops/cancellation-request.ts";
import { requireLoad } from "./known-load.ts";
import type { WriteDeps } from "../operation-deps.ts";
import type { CompanyBody } from "../request-body.ts";

/** Throws 920, 960, 907, or the faults of the body. */
export async function cancelLoad(deps: WriteDeps, input: CompanyBody): Promise<void> {
  const { companyId } = input;
  const { number: loadNbr, ...why } = readLoadCancellation(input);
  await deps.store.write(companyId, async (tx) => {
    const load = await requireLoad(tx, { companyId, loadNbr, action: "cancel" });
    const now = deps.clock.now();
    const execution = { ...JSON.parse(load.execution), cancellation: cancellationOf(why, now) };
    await updateLoadState(tx, { ...load, status: 99, execution: JSON.stringify(execution), updatedAt: now });
    await releaseAllStops(tx, { loadId: load.id, now });
    await recordEvent(tx, { companyId, kind: "loadCancelled", loadNbr, recordedAt: now });
  });
}
