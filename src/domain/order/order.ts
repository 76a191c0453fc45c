/** The customer order (specification/resources.md#order). It owns the stop of the same number. */
import { type Static, Type } from "@sinclair/typebox";
import type { Fault } from "../../lib/errors.ts";
import { Accessorial } from "../stop/comment.ts";
import { createEntityCheck } from "../fields/entity-check.ts";
import { count, identifier, optionals, reference, text, textOrNumber } from "../fields/fields.ts";
import { Address, Party } from "../stop/party.ts";
import { attachments, shipmentMeasures, shipmentReferences } from "../stop/shipment-fields.ts";
import { type Stop, stopWindowFaults, withRelations } from "../stop/stop.ts";
import { StopDetail } from "../stop/stop-detail.ts";

const identity = {
  /** Held to the length of a stop number as well, because it is one; both are 20. */
  orderNbr: identifier("orderNbr"),
  shipmentNbr: Type.Optional(reference("shipmentNbr")),
  ...shipmentReferences,
};

const planning = {
  from: Type.Optional(Party),
  to: Type.Optional(Party),
  ...optionals(reference, "shipForBP", "shipperCode"),
  consAttribute: Type.Optional(textOrNumber("consAttribute")),
  ...optionals(text, "doConfirmation", "puConfirmation"),
  originHub: Type.Optional(reference("originHub")),
  trackHubXfr: Type.Optional(Type.Union([textOrNumber("trackHubXfr"), Type.Boolean()])),
  billTo: Type.Optional(Address),
  ...optionals(textOrNumber, "freightTerms", "orderPriority", "scheduleAttribute"),
  stopGeofenceRadius: Type.Optional(count()),
  /** Only in retrievals; a host that sends it gets it back. */
  xDock: Type.Optional(text("xDock")),
};

const lists = {
  orderAccessorials: Type.Optional(Type.Array(Accessorial)),
  stopDetails: Type.Optional(Type.Array(Type.Omit(StopDetail, ["markfor", "cartonContents", "confirmed"]))),
  ...attachments,
};

export const Order = Type.Object({ ...identity, ...planning, ...shipmentMeasures, ...lists });
export type Order = Static<typeof Order>;

const checkOrder = createEntityCheck(Order);

/**
 * What is wrong with an order that has been through `normaliseStop` (orders take the same forms); an empty list when
 * nothing is. `path` is where it stands in the request (`orders[3]`). At most 50 faults.
 */
export function validateOrder(value: unknown, path: string): Fault[] {
  return withRelations(checkOrder(value, path), stopWindowFaults(value, path));
}

/** The stop that the order owns: the fields of the same meaning under their names in a stop. */
export function stopOfOrder(order: Order): Stop {
  const {
    orderNbr,
    orderPriority,
    orderAccessorials,
    originHub,
    trackHubXfr: _,
    xDock: __,
    ...shared
  } = order;
  return {
    ...shared,
    stopNbr: orderNbr,
    ...(orderPriority === undefined ? {} : { stopPriority: orderPriority }),
    ...(orderAccessorials === undefined ? {} : { stopAccessorials: orderAccessorials }),
    ...(originHub === undefined ? {} : { hubId: originHub }),
  };
}
