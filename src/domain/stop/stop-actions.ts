/**
 * What ASN and load imports, rejections and assignments do to a stop in each state
 * (specification/stop-states.md#actions-on-a-stop).
 */
import type { ErrorCode } from "../../lib/errors.ts";
import {
  cancelledStopStatus,
  closedToImports,
  type ImportRule,
  isFinalStopStatus,
  type StopImportRules,
  type StopStatus,
} from "./stop-status.ts";

const notAsn: ImportRule = {
  kind: "refuse",
  code: "stopNotAsn",
  remedy: "an ASN import changes an InboundShipment only: send it as a stop",
};

/** ASN import. A cancelled one is created anew, as with a stop import. */
export const asnImportRules: StopImportRules = {
  none: { kind: "create", to: "00", events: [] },
  "00": { kind: "update", to: "00", events: ["stopUpdated"] },
  "05": notAsn,
  "10": notAsn,
  "20": notAsn,
  "24": notAsn,
  "27": notAsn,
  "30": notAsn,
  "38": notAsn,
  "50": notAsn,
  "80": notAsn,
  "90": notAsn,
  "91": notAsn,
  "99": { kind: "create", to: "00", events: [] },
};

const plan: ImportRule = { kind: "update", to: "20", events: [] };

/** A stop that a load import lists. 7028 is recorded besides when the stop was not on that load before. */
export const plannedImportRules: StopImportRules = {
  ...closedToImports,
  none: { kind: "create", to: "20", events: [] },
  "00": plan,
  "05": plan,
  "10": plan,
  "20": plan,
  "80": { kind: "update", to: "20", events: ["stopReopened"] },
  "99": { kind: "create", to: "20", events: [] },
};

/** Other actions on a stop, in which states they are allowed, and the refusal in all others. */
export const stopActions = {
  /** Delete/reject stop: 99, 7059. */
  reject: { from: ["05", "10"], code: "stopNotOpen" },
  /** Delete/reject ASN: 99, 7059. */
  rejectAsn: { from: ["00"], code: "stopNotAsn" },
  /** Delete order: its stop, if it has one; it may have been deleted by itself before. */
  rejectOrder: { from: ["05", "10", cancelledStopStatus], code: "orderNotDeletable" },
  /** Assign and unassign a carrier: the state stays. */
  assignCarrier: { from: ["00", "05", "10", "20"], code: undefined },
  /** Write an appointment on it: 05 becomes 10, because it has a time window then. */
  schedule: { from: ["00", "05", "10", "20"], code: undefined },
} as const satisfies Record<string, { from: readonly StopStatus[]; code: ErrorCode | undefined }>;

export type StopAction = keyof typeof stopActions;

/** Why the action is refused in the state; undefined when it is not. An action without a code of its own says 906 or 907. */
export function refusalOfStopAction(action: StopAction, status: StopStatus): ErrorCode | undefined {
  const { from, code } = stopActions[action];
  if ((from as readonly StopStatus[]).includes(status)) return undefined;
  return code ?? (isFinalStopStatus(status) ? "finalState" : "stopInTransit");
}
