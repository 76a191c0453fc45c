/** The stop (also called order): the canonical object that every transport reads into and writes from. */
import { type Static, Type } from "@sinclair/typebox";
import type { Fault } from "../lib/errors.ts";
import { Accessorial } from "./comment.ts";
import { createEntityCheck } from "./entity-check.ts";
import { identifier, localDateTime, text, textOrNumber } from "./fields.ts";
import { Address, AddressAndContact, Party } from "./party.ts";
import { attachments, shipmentMeasures, shipmentReferences } from "./shipment-fields.ts";
import { StopDetail } from "./stop-detail.ts";

/** The carrier (business partner) a stop is given to. An empty `carrierCode` takes it away. */
export const StopAssignment = Type.Object({
  carrierCode: Type.Optional(text("carrierCode")),
  assignmentCriteria: Type.Optional(textOrNumber("assignmentCriteria")),
});
export type StopAssignment = Static<typeof StopAssignment>;

const identity = {
  stopNbr: identifier("stopNbr"),
  stopSeq: Type.Optional(textOrNumber("stopSeq")),
  stopType: Type.Optional(text("stopType")),
  shipmentNbr: Type.Optional(textOrNumber("shipmentNbr")),
  sealNbr: Type.Optional(textOrNumber("sealNbr")),
  ...shipmentReferences,
};

const planning = {
  from: Type.Optional(Party),
  to: Type.Optional(Party),
  shipForBP: Type.Optional(textOrNumber("shipForBP")),
  shipperCode: Type.Optional(textOrNumber("shipperCode")),
  profile: Type.Optional(textOrNumber("profile")),
  consAttribute: Type.Optional(textOrNumber("consAttribute")),
  markfor: Type.Optional(AddressAndContact),
  doConfirmation: Type.Optional(text("doConfirmation")),
  puConfirmation: Type.Optional(text("puConfirmation")),
  hubId: Type.Optional(textOrNumber("hubId")),
  trailerCode: Type.Optional(textOrNumber("trailerCode")),
  billTo: Type.Optional(Address),
  freightTerms: Type.Optional(textOrNumber("freightTerms")),
  stopPriority: Type.Optional(textOrNumber("stopPriority")),
  scheduleAttribute: Type.Optional(textOrNumber("scheduleAttribute")),
  laneNumber: Type.Optional(textOrNumber("laneNumber")),
  deliveryAttempt: Type.Optional(Type.Number()),
  altStopSeq: Type.Optional(textOrNumber("altStopSeq")),
  stopGeofenceRadius: Type.Optional(Type.Number()),
  markAsReceived: Type.Optional(Type.Boolean()),
  receivedDttm: Type.Optional(localDateTime()),
  stopAssignment: Type.Optional(StopAssignment),
};

const lists = {
  stopAccessorials: Type.Optional(Type.Array(Accessorial)),
  stopDetails: Type.Optional(Type.Array(StopDetail)),
  ...attachments,
};

export const Stop = Type.Object({ ...identity, ...planning, ...shipmentMeasures, ...lists });
export type Stop = Static<typeof Stop>;

const checkStop = createEntityCheck(Stop);

/**
 * What is wrong with a stop that has been through `normaliseStop`; an empty list when nothing is. `path` is where the
 * stop stands in the request (`stops[3]`), so that faults name `stops[3].to.address.zip`. At most 50 faults.
 */
export function validateStop(value: unknown, path: string): Fault[] {
  return checkStop(value, path);
}
