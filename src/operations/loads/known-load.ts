/** The load that an operation is about, in a state that allows it (specification/stop-states.md#actions-on-a-load). */
import { type LoadAction, loadActions, loadStatusNames } from "../../domain/load/load-status.ts";
import { DropgateError } from "../../lib/errors.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { findStoredLoad, type StoredLoad } from "../../store/stops/load-queries.ts";
import { loadNotFound } from "../not-found.ts";

const remedies: Readonly<Record<LoadAction, string>> = {
  import: "It cannot be changed any more; send what is still to be done under another load number.",
  assignCarrier: "Its carrier cannot be changed any more.",
  unassignCarrier: "Its carrier cannot be changed any more.",
  assignDriver: "Its driver cannot be changed any more.",
  unassignDriver: "There is no driver to be taken from it.",
  cancel: "Only a load without a driver, in 10 or 20, can be cancelled: unassign the driver first.",
};

/** The refusal of an action on a load in its state; undefined when it is allowed. */
export function refusalOfLoadAction(load: StoredLoad, action: LoadAction): DropgateError | undefined {
  const code = loadActions[action][load.status];
  if (code === undefined) return undefined;
  const state = `${load.status} (${loadStatusNames[load.status]})`;
  const remedy =
    action === "cancel" && code === "finalState" ? "Nothing is left to be cancelled." : remedies[action];
  return new DropgateError(code, `the load ${load.loadNbr} is ${state}. ${remedy}`);
}

/** The load of that number. Throws 920, or the refusal of the action in the load's state. */
export async function requireLoad(
  tx: Transaction,
  wanted: { readonly companyId: number; readonly loadNbr: string; readonly action: LoadAction },
): Promise<StoredLoad> {
  const load = await findStoredLoad(tx, wanted);
  if (load === undefined) throw loadNotFound(wanted.loadNbr);
  const refused = refusalOfLoadAction(load, wanted.action);
  if (refused !== undefined) throw refused;
  return load;
}
