/** The load (also called route): a sequence of stops, what it is assigned to, and its header (interface "Load header"). */
import { type Static, Type } from "@sinclair/typebox";
import type { Fault } from "../lib/errors.ts";
import { createEntityCheck } from "./entity-check.ts";
import { coordinate, identifier, localDateTime, text, textOrNumber, timeZone } from "./fields.ts";
import { AddressAndContact } from "./party.ts";
import { attachments, quantities } from "./shipment-fields.ts";
import { Stop } from "./stop.ts";

const identity = {
  loadNbr: identifier("loadNbr"),
  earliestStartDttm: Type.Optional(localDateTime()),
  latestStartDttm: Type.Optional(localDateTime()),
  signatureRequired: Type.Optional(Type.Boolean()),
  loadTimeZone: Type.Optional(timeZone()),
  stopSeqOrder: Type.Optional(textOrNumber("stopSeqOrder")),
  masterBol: Type.Optional(textOrNumber("masterBol")),
  pronbr: Type.Optional(textOrNumber("pronbr")),
  reference: Type.Optional(textOrNumber("reference")),
  reference2: Type.Optional(textOrNumber("reference2")),
  reference3: Type.Optional(textOrNumber("reference3")),
  sealNbr: Type.Optional(textOrNumber("sealNbr")),
  contractCode: Type.Optional(textOrNumber("contractCode")),
};

const origin = {
  origin: Type.Optional(textOrNumber("origin")),
  originName: Type.Optional(text("originName")),
  originAddr1: Type.Optional(text("originAddr1")),
  originAddr2: Type.Optional(text("originAddr2")),
  originCity: Type.Optional(text("originCity")),
  originState: Type.Optional(text("originState")),
  originZip: Type.Optional(textOrNumber("originZip")),
  originCountry: Type.Optional(text("originCountry")),
  originPhoneNumber: Type.Optional(textOrNumber("originPhoneNumber")),
  originLatitude: Type.Optional(coordinate(90)),
  originLongitude: Type.Optional(coordinate(180)),
  depot: Type.Optional(AddressAndContact),
};

const vehicle = {
  tractorNbr: Type.Optional(textOrNumber("tractorNbr")),
  trailerNbr: Type.Optional(textOrNumber("trailerNbr")),
  trailerSize: Type.Optional(textOrNumber("trailerSize")),
  trailerType: Type.Optional(textOrNumber("trailerType")),
};

const measures = {
  ...quantities,
  prePlannedLoadDistance: Type.Optional(Type.Number()),
  prePlannedLoadDuration: Type.Optional(Type.Number()),
  congestionFactor: Type.Optional(Type.Number()),
};

/** Seen in the retrieval only; a host that sends them gets them back. */
const retrieved = {
  routeName: Type.Optional(textOrNumber("routeName")),
  cusAccNbr: Type.Optional(textOrNumber("cusAccNbr")),
  cusBillAmt: Type.Optional(Type.Number()),
  profile: Type.Optional(textOrNumber("profile")),
  /** `ALWAYS` has the load completed only when it is back at the depot. */
  returnToDepot: Type.Optional(text("returnToDepot")),
  delayReasonCode: Type.Optional(Type.Number()),
  delayReasonCodeComment: Type.Optional(text("delayReasonCodeComment")),
  workType: Type.Optional(text("workType")),
};

export const LoadHeader = Type.Object({
  ...identity,
  ...origin,
  ...vehicle,
  ...measures,
  ...attachments,
  ...retrieved,
});
export type LoadHeader = Static<typeof LoadHeader>;

/** Who carries and drives a load. An empty `carrierCode` takes the load from its carrier. */
export const LoadAssignment = Type.Object({
  carrierCode: Type.Optional(text("carrierCode")),
  assignmentCriteria: Type.Optional(textOrNumber("assignmentCriteria")),
  driverCdl: Type.Optional(textOrNumber("driverCdl")),
  driverEmail: Type.Optional(text("driverEmail")),
  driverName: Type.Optional(text("driverName")),
  driverUserName: Type.Optional(text("driverUserName")),
});
export type LoadAssignment = Static<typeof LoadAssignment>;

/** A load as it is imported: its stops directly, in the order in which they are visited. */
export const Load = Type.Object({
  loadHeader: LoadHeader,
  stops: Type.Optional(Type.Array(Stop)),
  loadAssignment: Type.Optional(LoadAssignment),
});
export type Load = Static<typeof Load>;

const checkLoad = createEntityCheck(Load);

function repeatedStops(load: Load, path: string): Fault[] {
  const first = new Map<string, number>();
  const faults: Fault[] = [];
  for (const [index, { stopNbr }] of (load.stops ?? []).entries()) {
    const before = first.get(stopNbr);
    if (before === undefined) first.set(stopNbr, index);
    else {
      const at = `${path}.stops[${index}].stopNbr`;
      const message = `${at} is ${stopNbr}, as stops[${before}] of the same load is. Send each stop once.`;
      faults.push({ code: "wrongType", path: at, message, stopNbr });
    }
  }
  return faults;
}

/**
 * What is wrong with a load that has been through `normaliseLoad`; an empty list when nothing is. `path` is where it
 * stands in the request (`loads[3]`). At most 50 faults.
 */
export function validateLoad(value: unknown, path: string): Fault[] {
  const faults = checkLoad(value, path);
  return faults.length > 0 ? faults : repeatedStops(value as Load, path);
}
