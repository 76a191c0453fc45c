/** The states of a delivery (specification/outbound.md#states-of-a-delivery). */
export const deliveryStates = ["waiting", "behind", "delivered", "dead", "dropped"] as const;
export type DeliveryState = (typeof deliveryStates)[number];

export type DeliveryKind = "completion" | "export" | "message" | "alert";

export function isDeliveryState(text: string): text is DeliveryState {
  return (deliveryStates as readonly string[]).includes(text);
}

/** The states in which it has still to go out by itself. */
export const openDeliveryStates = ["waiting", "behind"] as const satisfies readonly DeliveryState[];

/** What lists are filtered by: one state, or all open ones. */
export const askedDeliveryStates = ["open", ...deliveryStates] as const;
export type AskedDeliveryState = (typeof askedDeliveryStates)[number];

/** The states in which it has ended, unless somebody requests it again. A dead one waits for that. */
export const endedDeliveryStates = ["delivered", "dropped"] as const satisfies readonly DeliveryState[];

export function isEndedDelivery(state: DeliveryState): boolean {
  return (endedDeliveryStates as readonly DeliveryState[]).includes(state);
}

/** The fault of a delivery that somebody has given up: it is dropped, and may be requested again. */
export const givenUpFault = "givenUp";

/** The fault of a delivery that was dropped because the configuration does not want it any more. */
export const notConfiguredFault = "notConfigured";

/** Whether somebody has given it up, so that it may be requested again. */
export function isGivenUp(delivery: {
  readonly state: DeliveryState;
  readonly fault: string | null;
}): boolean {
  return delivery.state === "dropped" && delivery.fault === givenUpFault;
}
