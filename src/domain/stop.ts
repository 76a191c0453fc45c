/** The stop (also called order): the canonical object that every transport reads into and writes from. */
import { type Static, Type } from "@sinclair/typebox";
import { type Fault, maxKeptFaults } from "../lib/errors.ts";
import { Accessorial } from "./comment.ts";
import { createEntityCheck } from "./entity-check.ts";
import { code, count, identifier, localDateTime, reference, text, textOrNumber } from "./fields.ts";
import { Address, AddressAndContact, Party } from "./party.ts";
import { attachments, shipmentMeasures, shipmentReferences } from "./shipment-fields.ts";
import { StopDetail } from "./stop-detail.ts";
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
  shipmentNbr: Type.Optional(reference("shipmentNbr")),
  sealNbr: Type.Optional(reference("sealNbr")),
  ...shipmentReferences,
};

const planning = {
  from: Type.Optional(Party),
  to: Type.Optional(Party),
  shipForBP: Type.Optional(reference("shipForBP")),
  shipperCode: Type.Optional(reference("shipperCode")),
  profile: Type.Optional(textOrNumber("profile")),
  consAttribute: Type.Optional(textOrNumber("consAttribute")),
  markfor: Type.Optional(AddressAndContact),
  doConfirmation: Type.Optional(text("doConfirmation")),
  puConfirmation: Type.Optional(text("puConfirmation")),
  hubId: Type.Optional(reference("hubId")),
  trailerCode: Type.Optional(reference("trailerCode")),
  billTo: Type.Optional(Address),
  freightTerms: Type.Optional(textOrNumber("freightTerms")),
  stopPriority: Type.Optional(textOrNumber("stopPriority")),
  scheduleAttribute: Type.Optional(textOrNumber("scheduleAttribute")),
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

/** Windows of the stop and of its details that end before they begin. */
export function stopWindowFaults(stop: Pick<Stop, "from" | "to" | "stopDetails">, path: string): Fault[] {
  const faults: Fault[] = [];
  for (const name of partyNames) {
    const { timeFrom, timeTo, timeZone } = stop[name]?.schedule ?? {};
    const window = { begin: timeFrom, end: timeTo, zone: timeZone, endName: "timeTo" };
    faults.push(...windowFaults(window, `${path}.${name}.schedule`));
  }
  const zone = stop.to?.schedule?.timeZone ?? stop.from?.schedule?.timeZone;
  for (const [index, { earliestDTTM, latestDTTM }] of (stop.stopDetails ?? []).entries()) {
    const window = { begin: earliestDTTM, end: latestDTTM, zone, endName: "latestDTTM" };
    faults.push(...windowFaults(window, `${path}.stopDetails[${index}]`));
  }
  return faults.slice(0, maxKeptFaults);
}

/**
 * What is wrong with a stop that has been through `normaliseStop`; an empty list when nothing is. `path` is where the
 * stop stands in the request (`stops[3]`), so that faults name `stops[3].to.address.zip`. At most 50 faults.
 */
export function validateStop(value: unknown, path: string): Fault[] {
  const faults = checkStop(value, path);
  return faults.length > 0 ? faults : stopWindowFaults(value as Stop, path);
}

/**
 * The same of a stop whose fields have their types, as one that was read from XML: windows are looked at beside other faults,
 * so that all is told at once.
 */
export function faultsOfReadStop(stop: Stop, path: string): Fault[] {
  const faults = checkStop(stop, path);
  const told = new Set(faults.map((fault) => fault.path));
  const ofWindows = stopWindowFaults(stop, path).filter((fault) => !told.has(fault.path));
  return [...faults, ...ofWindows].slice(0, maxKeptFaults);
}

/** Whether a value that has to be there is not. */
export function isOfAbsence({ code }: Pick<Fault, "code">): boolean {
  return code === "missing" || code === "emptyList";
}
