/**
 * States of a stop and what imports, deletions and assignments do to them
 * (specification/stop-states.md#imports-of-a-stop). Loads are in `load-status.ts`.
 *
 *   05 created ──┐
 *   10 unplanned ├─ import ─> 05/10 (20 stays 20)      80 closed ─ import ─> 10 (reopened)
 *   20 planned ──┘                                     99 cancelled ─ import ─> created anew
 *   24 27 30 38 50 ─ import refused (906)              90 91 ─ import refused (907)
 *   any but 99 ─ XML 02 ─> 99                          05 10 ─ delete stop ─> 99      00 ─ delete ASN ─> 99
 *   00 05 10 80 ─ listed by a load import ─> 20        new or 00 ─ ASN import ─> 00
 */
import type { ErrorCode } from "../../lib/errors.ts";
import type { RecordedEventKind } from "../outbound/recorded-events.ts";

export const stopStatusNames = {
  "00": "InboundShipment",
  "05": "created (no time window yet)",
  "10": "unplanned",
  "20": "planned",
  "24": "on the way to pickup",
  "27": "arrived at pickup",
  "30": "picked up",
  "38": "on the way to drop-off",
  "50": "arrived at drop-off",
  "80": "closed (could not be done)",
  "90": "completed",
  "91": "completed by hand",
  "99": "cancelled",
} as const;

export type StopStatus = keyof typeof stopStatusNames;

export function isStopStatus(text: string): text is StopStatus {
  return Object.hasOwn(stopStatusNames, text);
}

/** What an import does to a stop in one state. */
export type ImportRule =
  | {
      readonly kind: "create" | "update";
      /** `initial` is 10 with a time window and 05 without. */
      readonly to: StopStatus | "initial";
      readonly events: readonly RecordedEventKind[];
    }
  | { readonly kind: "refuse"; readonly code: ErrorCode; readonly remedy: string };

/** A rule for each state; `none` is for a stop that is not known yet. */
export type StopImportRules = Readonly<Record<StopStatus | "none", ImportRule>>;

function refuse(code: ErrorCode): ImportRule {
  return { kind: "refuse", code, remedy: "send what is still to be done under another stop number" };
}

const update: ImportRule = { kind: "update", to: "initial", events: ["stopUpdated"] };

/** Stops that are under way or done are changed by no import. */
export const closedToImports = {
  "24": refuse("stopInTransit"),
  "27": refuse("stopInTransit"),
  "30": refuse("stopInTransit"),
  "38": refuse("stopInTransit"),
  "50": refuse("stopInTransit"),
  "90": refuse("finalState"),
  "91": refuse("finalState"),
} as const satisfies Partial<StopImportRules>;

/** Stop import, XML with Function 01 and 03, order import. */
export const importRules: StopImportRules = {
  ...closedToImports,
  none: { kind: "create", to: "initial", events: [] },
  "00": update,
  "05": update,
  "10": update,
  "20": { kind: "update", to: "20", events: ["stopUpdated"] },
  "80": { kind: "update", to: "10", events: ["stopReopened", "stopUpdated"] },
  "99": { kind: "create", to: "initial", events: [] },
};

/** The state of a stop that is imported afresh: 10 when `from` or `to` has a `timeFrom`, else 05. */
export function initialStopStatus(hasTimeWindow: boolean): StopStatus {
  return hasTimeWindow ? "10" : "05";
}

/** The state of a stop that is on no load (any more) and waits to be planned. */
export const unplannedStopStatus: StopStatus = initialStopStatus(true);

/** The state of a stop whose time window has become known: one that was created without is unplanned then. */
export function stopStatusWithTimeWindow(status: StopStatus): StopStatus {
  return status === initialStopStatus(false) ? initialStopStatus(true) : status;
}

/** The states of a stop that is done: it could not be done, was completed, or was completed by hand. */
const doneStopStatuses = ["80", "90", "91"] as const satisfies readonly StopStatus[];

export const cancelledStopStatus = "99" satisfies StopStatus;

/** The final states: nothing more happens to a stop that is finished or cancelled, unless it is imported again. */
export const finalStopStatuses = [
  ...doneStopStatuses,
  cancelledStopStatus,
] as const satisfies readonly StopStatus[];

export function isDoneStopStatus(status: StopStatus): boolean {
  return (doneStopStatuses as readonly StopStatus[]).includes(status);
}

/** Whether nothing more happens to the stop, unless it is imported again. */
export function isFinalStopStatus(status: StopStatus): boolean {
  return (finalStopStatuses as readonly StopStatus[]).includes(status);
}
