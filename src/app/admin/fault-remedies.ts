/** What an administrator can do about a server that cannot be used; the message of the fault says what happened. */
import type { DeliveryFault } from "../../domain/outbound/delivery-fault.ts";
import { type Move, moveAfterFault } from "../../domain/outbound/whose-move.ts";

const ofSuchServer = "check that host and port are those of such a server";

export const faultRemedies: Readonly<Record<DeliveryFault, string>> = {
  unreachable:
    "correct host and port; check that the server is up, and that the firewall lets this machine through",
  timeout: `${ofSuchServer}, and whether a firewall drops the traffic; for a slow one raise timeoutMs`,
  connectionLost: `${ofSuchServer}, and whether it takes connections from this machine's address; its log says more`,
  identity:
    "ask its operator whether key or certificate were changed, before you change hostKeys, ca or certificateFingerprint",
  credentials: "correct user, password, key or token; some servers lock a user after some wrong attempts",
  notAllowed: "have its operator give the user the right",
  missingFolder: "have the folder made there, or correct the setting that names it",
  noSpace: "have space made there",
  refused: "see its answer in the message; its operator can tell why",
  busy: "try again later; if that persists, ask its operator how many connections it allows",
  protocol: `${ofSuchServer}, and no proxy stands before it`,
  configuration: "correct the setting that the message names",
  content: "see the message",
};

/** Whose move it is after a fault as the store has it; undefined where it is none of these. */
export function moveOfFault(fault: string | null | undefined): Move | undefined {
  return Object.entries(moveAfterFault).find(([known]) => known === fault)?.[1];
}

/** The remedy for a fault as the store has it; null where it is none of these, such as that somebody gave up. */
export function remedyOfFault(fault: string | null): string | null {
  return Object.entries(faultRemedies).find(([known]) => known === fault)?.[1] ?? null;
}
