/** States of deliveries, stops and loads, each with the kind of badge that says how it stands. */
import { isLoadStatus, loadStatusNames } from "../../../../domain/load/load-status.ts";
import type { DeliveryState } from "../../../../domain/outbound/delivery-state.ts";
import { cancelledStopStatus, isStopStatus, stopStatusNames } from "../../../../domain/stop/stop-status.ts";
import { type BadgeKind, badge } from "../kit/badge.ts";
import type { Html } from "../kit/html.ts";
import { words } from "../words/words.ts";

const ofDeliveries: Readonly<Record<DeliveryState, BadgeKind>> = {
  waiting: "wait",
  behind: "wait",
  delivered: "ok",
  dead: "bad",
  dropped: "off",
};

export function deliveryBadge(state: DeliveryState): Html {
  return badge(ofDeliveries[state], words.states.delivery[state]);
}

/** By the first digit: created and planned, under way, done; closed and cancelled by themselves. */
function stopKind(status: string): BadgeKind {
  if (status === "80") return "bad";
  if (status === cancelledStopStatus) return "off";
  return status.startsWith("9") ? "ok" : "wait";
}

/** The state of a stop with its code; one of another version by its code alone. */
export function stopBadge(status: string): Html {
  return badge(stopKind(status), isStopStatus(status) ? `${stopStatusNames[status]} (${status})` : status);
}

const ofLoads: Readonly<Partial<Record<number, BadgeKind>>> = { 70: "bad", 90: "ok", 99: "off" };

export function loadBadge(status: number): Html {
  const text = isLoadStatus(status) ? `${loadStatusNames[status]} (${status})` : String(status);
  return badge(ofLoads[status] ?? "wait", text);
}
