/** The stop (also called order): the canonical object that every transport reads into and writes from. */
import { type Static, Type } from "@sinclair/typebox";
import { type Fault, maxKeptFaults } from "../../lib/errors.ts";
import { Accessorial } from "./comment.ts";
import { createEntityCheck } from "../fields/entity-check.ts";
import {
  code,
  count,
  identifier,
  localDateTime,
  optionals,
  reference,
  text,
  textOrNumber,
} from "../fields/fields.ts";
import { Address, AddressAndContact, Party } from "./party.ts";
import { attachments, shipmentMeasures, shipmentReferences } from "./shipment-fields.ts";
import { StopDetail } from "./stop-detail.ts";
import { fieldsOf, listOf } from "../fields/fields-of-json.ts";
import { windowFaults } from "./time-order.ts";

/** The carrier (business partner) a stop is given to. An empty `carrierCode` takes it away. */
export const StopAssignment = Type.Object({
  carrierCode: Type.Optional(code("carrierCode")),
  assignmentCriteria: Type.Optional(textOrNumber("assignmentCriteria")),
});
export type StopAssignment = Static<typeof StopAssignment>;

const identity = {
  stopNbr: identifier("stopNbr"),
  stopSeq: Type.Optional(reference("stopSeq")),
  stopType: Type.Optional(text("stopType")),
  ...optionals(reference, "shipmentNbr", "sealNbr"),
  ...shipmentReferences,
};

const planning = {
  from: Type.Optional(Party),
  to: Type.Optional(Party),
  ...optionals(reference, "shipForBP", "shipperCode"),
  ...optionals(textOrNumber, "profile", "consAttribute"),
  markfor: Type.Optional(AddressAndContact),
  ...optionals(text, "doConfirmation", "puConfirmation"),
  ...optionals(reference, "hubId", "trailerCode"),
  billTo: Type.Optional(Address),
  ...optionals(textOrNumber, "freightTerms", "stopPriority", "scheduleAttribute"),
  laneNumber: Type.Optional(reference("laneNumber")),
  deliveryAttempt: Type.Optional(count()),
  altStopSeq: Type.Optional(reference("altStopSeq")),
  stopGeofenceRadius: Type.Optional(count()),
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

const partyNames = ["from", "to"] as const;

/** Windows of a stop, or of what is sent for one, and of its details that end before they begin. */
export function stopWindowFaults(stop: unknown, path: string): Fault[] {
  const faults: Fault[] = [];
  const fields = fieldsOf(stop);
  const schedules = partyNames.map((name) => fieldsOf(fieldsOf(fields[name])["schedule"]));
  for (const [index, { timeFrom, timeTo, timeZone }] of schedules.entries()) {
    const window = { begin: timeFrom, end: timeTo, zone: timeZone, endName: "timeTo" };
    faults.push(...windowFaults(window, `${path}.${partyNames[index]}.schedule`));
  }
  const [from, to] = schedules;
  const zone = to?.["timeZone"] ?? from?.["timeZone"];
  for (const [index, detail] of listOf(fields["stopDetails"]).entries()) {
    const { earliestDTTM, latestDTTM } = fieldsOf(detail);
    const window = { begin: earliestDTTM, end: latestDTTM, zone, endName: "latestDTTM" };
    faults.push(...windowFaults(window, `${path}.stopDetails[${index}]`));
  }
  return faults.slice(0, maxKeptFaults);
}

/** Faults of values, and those of relations between correct values, so that all are reported at once. */
export function withRelations(faults: readonly Fault[], relations: readonly Fault[]): Fault[] {
  const told = new Set(faults.map(({ path }) => path));
  return [...faults, ...relations.filter(({ path }) => !told.has(path))].slice(0, maxKeptFaults);
}

/**
 * What is wrong with a stop that has been through `normaliseStop`, or was read from XML; an empty list when nothing is. `path`
 * is where the stop stands in the request (`stops[3]`), so that faults name `stops[3].to.address.zip`. At most 50 faults.
 */
export function validateStop(value: unknown, path: string): Fault[] {
  return withRelations(checkStop(value, path), stopWindowFaults(value, path));
}

/** Whether a required value is missing. */
export function isOfAbsence({ code }: Pick<Fault, "code">): boolean {
  return code === "missing" || code === "emptyList";
}
