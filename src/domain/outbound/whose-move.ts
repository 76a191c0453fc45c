/** Whose move it is after a fault: who can end it. What they can do is in the remedy of the fault. */
import type { DeliveryFault } from "./delivery-fault.ts";
import type { ErrorCode } from "../../lib/errors.ts";

/**
 * `host`: whoever sends files here. `administrator`: whoever runs this installation, or has what it knows in hand. `partner`:
 * whoever runs the server of a target or a remote. `nobody`: it ends by itself, or nothing is to be done.
 */
export type Move = "host" | "administrator" | "partner" | "nobody";

/** Refusals that no host can end: all others are about what was sent. */
const otherRefusals: Partial<Readonly<Record<ErrorCode, Move>>> = {
  superseded: "nobody",
  stopInTransit: "nobody",
  partnerNotFound: "administrator",
  internal: "administrator",
  overloaded: "nobody",
};

/** After a refusal of a file. */
export function moveAfterRefusal(code: ErrorCode): Move {
  return otherRefusals[code] ?? "host";
}

/** After a fault of the server of a target or a remote, or of the way to it. */
export const moveAfterFault: Readonly<Record<DeliveryFault, Move>> = {
  unreachable: "partner",
  timeout: "partner",
  connectionLost: "partner",
  identity: "partner",
  credentials: "administrator",
  notAllowed: "partner",
  missingFolder: "partner",
  noSpace: "partner",
  refused: "partner",
  busy: "partner",
  protocol: "partner",
  configuration: "administrator",
  content: "administrator",
};
