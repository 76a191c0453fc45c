/** The states of a delivery (specification/outbound.md#states-of-a-delivery). */
export const deliveryStates = ["waiting", "behind", "delivered", "dead", "dropped"] as const;
export type DeliveryState = (typeof deliveryStates)[number];

export function isDeliveryState(text: string): text is DeliveryState {
  return (deliveryStates as readonly string[]).includes(text);
}

/** The states in which it has ended: nothing of it is tried again unless somebody asks for it. A dead one waits for that. */
export const endedDeliveryStates = ["delivered", "dropped"] as const satisfies readonly DeliveryState[];

export function isEndedDelivery(state: DeliveryState): boolean {
  return (endedDeliveryStates as readonly DeliveryState[]).includes(state);
}

/** The fault of a delivery that somebody has given up: it is dropped, and may be asked for again. */
export const givenUpFault = "givenUp";

/** Whether somebody has given it up, so that it may be asked for again. */
export function isGivenUp({
  state,
  fault,
}: {
  readonly state: DeliveryState;
  readonly fault: string | null;
}): boolean {
  return state === "dropped" && fault === givenUpFault;
}
