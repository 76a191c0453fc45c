/**
 * States of a stop and what an import or a deletion does to them (decisions 3, rows for stops and XML).
 *
 *   05 created ──┐
 *   10 unplanned ├─ import ─> 05/10 (20 stays 20)      80 closed ─ import ─> 10 (reopened)
 *   20 planned ──┘                                     99 cancelled ─ import ─> created anew
 *   24 27 30 38 50 ─ import refused (906)              90 91 ─ import refused (907)
 *   any but 99 ─ XML 02 ─> 99
 */
import type { ErrorCode } from "../lib/errors.ts";
import type { RecordedEventKind } from "./recorded-events.ts";

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

type ImportRule =
  | {
      readonly kind: "create" | "update";
      /** `initial` is 10 with a time window and 05 without. */
      readonly to: StopStatus | "initial";
      readonly events: readonly RecordedEventKind[];
    }
  | { readonly kind: "refuse"; readonly code: ErrorCode };

const update: ImportRule = { kind: "update", to: "initial", events: ["stopUpdated"] };
const inTransit: ImportRule = { kind: "refuse", code: "stopInTransit" };
const final: ImportRule = { kind: "refuse", code: "finalState" };

/** What an import does to a stop in each state; `none` when it is not known yet. */
export const importRules: Readonly<Record<StopStatus | "none", ImportRule>> = {
  none: { kind: "create", to: "initial", events: [] },
  "00": update,
  "05": update,
  "10": update,
  "20": { kind: "update", to: "20", events: ["stopUpdated"] },
  "24": inTransit,
  "27": inTransit,
  "30": inTransit,
  "38": inTransit,
  "50": inTransit,
  "80": { kind: "update", to: "10", events: ["stopReopened", "stopUpdated"] },
  "90": final,
  "91": final,
  "99": { kind: "create", to: "initial", events: [] },
};

/** The state of a stop that is imported afresh: 10 when `from` or `to` has a `timeFrom`, else 05. */
export function initialStopStatus(hasTimeWindow: boolean): StopStatus {
  return hasTimeWindow ? "10" : "05";
}
