/**
 * States of a load and what imports, assignments and the cancellation do to them
 * (specification/stop-states.md#actions-on-a-load).
 *
 *   10 created <─ carrier ─> 20 carrier assigned         10 20 ─ cancel ─> 99
 *   10 20 ─ driver ─> 30 driver assigned ─ unassign ─> 20, or 10 without a carrier
 *   10 20 30 ─ import ─> replaced, the state by its assignment
 *   40 under way ─> 90 completed, 70 suspended: by route events
 */
import type { ErrorCode } from "../../lib/errors.ts";

export const loadStatusNames = {
  10: "created",
  20: "carrier assigned",
  30: "driver assigned",
  40: "under way",
  70: "suspended",
  90: "completed",
  99: "cancelled",
} as const;

export type LoadStatus = keyof typeof loadStatusNames;

export function isLoadStatus(value: number): value is LoadStatus {
  return Object.hasOwn(loadStatusNames, value);
}

/** The states that a load does not leave any more: it is over. */
export const finalLoadStatuses = [90, 99] as const satisfies readonly LoadStatus[];

/** The state of a load that is not under way yet. */
export function plannedLoadStatus(assigned: {
  readonly hasCarrier: boolean;
  readonly hasDriver: boolean;
}): LoadStatus {
  if (assigned.hasDriver) return 30;
  return assigned.hasCarrier ? 20 : 10;
}

export type LoadAction =
  | "import"
  | "assignCarrier"
  | "unassignCarrier"
  | "assignDriver"
  | "unassignDriver"
  | "cancel";

type Refusals = Readonly<Record<LoadStatus, ErrorCode | undefined>>;

/** Under way or suspended, completed or cancelled: nothing of the plan is changed any more. */
const onlyPlanned: Refusals = {
  10: undefined,
  20: undefined,
  30: undefined,
  40: "stopInTransit",
  70: "stopInTransit",
  90: "finalState",
  99: "finalState",
};

/** Which actions are refused in which state, and with what. */
export const loadActions: Readonly<Record<LoadAction, Refusals>> = {
  import: onlyPlanned,
  assignCarrier: onlyPlanned,
  unassignCarrier: onlyPlanned,
  assignDriver: onlyPlanned,
  unassignDriver: { ...onlyPlanned, 10: "notAssigned", 20: "notAssigned" },
  cancel: { ...onlyPlanned, 30: "loadHasDriver", 40: "loadHasDriver", 70: "loadHasDriver" },
};
