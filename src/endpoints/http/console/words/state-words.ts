/** States of deliveries in a word, and what stands where there is nothing. */
import type { AskedDeliveryState, DeliveryState } from "../../../../domain/outbound/delivery-state.ts";

const delivery: Readonly<Record<DeliveryState, string>> = {
  waiting: "waits",
  behind: "waits behind another",
  delivered: "delivered",
  dead: "given up after failures",
  dropped: "not sent",
};

const askedDelivery: Readonly<Record<AskedDeliveryState, string>> = {
  open: "waits, behind another or not",
  ...delivery,
};

export const stateWords = { delivery, askedDelivery };

export const notFoundWords = {
  title: "Not found",
  file: "There is no such file, or it belongs to a company that you may not look at. Look for its name with Find.",
  stop: "There is no such stop so far, or it belongs to a company that you may not look at.",
  load: "There is no such load, or it belongs to a company that you may not look at.",
  findIt: (number: string) => `What is known of ${number}`,
};
