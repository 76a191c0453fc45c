/** Gives a stop to a carrier, and takes it from one (specification/stop-states.md#actions-on-a-stop). */
import { refusalOfStopAction } from "../../domain/stop/stop-actions.ts";
import { stopStatusNames } from "../../domain/stop/stop-status.ts";
import { DropgateError } from "../../lib/errors.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { findKnownStop, type KnownStop, saveStopCarrier } from "../../store/stops/stops.ts";
import { checkAssigned, readCarrierAssignment, requireCarrier } from "./carrier-assignment.ts";
import type { WriteDeps } from "../operation-deps.ts";
import type { CompanyBody } from "../request-body.ts";
import { stopNotFound } from "../not-found.ts";

export interface StopCarrierInput extends CompanyBody {
  readonly stopNbr: string;
}

async function openStop(tx: Transaction, { companyId, stopNbr }: StopCarrierInput): Promise<KnownStop> {
  const known = await findKnownStop(tx, { companyId, stopNbr });
  if (known === undefined) throw stopNotFound(stopNbr);
  const code = refusalOfStopAction("assignCarrier", known.status);
  if (code === undefined) return known;
  const state = `${known.status} (${stopStatusNames[known.status]})`;
  throw new DropgateError(code, `the stop ${stopNbr} is ${state}: its carrier cannot be changed any more.`);
}

/** Assigns the carrier of the body. Throws 921, 906 or 907, 925, or the faults of the body. */
export async function assignStopCarrier(deps: WriteDeps, input: StopCarrierInput): Promise<void> {
  const { companyId, stopNbr } = input;
  const { carrierCode, assignmentCriteria } = readCarrierAssignment(input);
  await deps.store.write(companyId, async (tx) => {
    await openStop(tx, input);
    await requireCarrier(tx, companyId, carrierCode);
    const now = deps.clock.now();
    await saveStopCarrier(tx, { companyId, stopNbr, carrierCode, assignmentCriteria, updatedAt: now });
  });
}

/** Takes the stop from the carrier of the body. Throws 921, 906 or 907, 964, or the faults of the body. */
export async function unassignStopCarrier(deps: WriteDeps, input: StopCarrierInput): Promise<void> {
  const { companyId, stopNbr } = input;
  const { carrierCode } = readCarrierAssignment(input);
  await deps.store.write(companyId, async (tx) => {
    const known = await openStop(tx, input);
    checkAssigned(`stop ${stopNbr}`, known.carrierCode, carrierCode);
    await saveStopCarrier(tx, {
      companyId,
      stopNbr,
      carrierCode: null,
      assignmentCriteria: null,
      updatedAt: deps.clock.now(),
    });
  });
}
