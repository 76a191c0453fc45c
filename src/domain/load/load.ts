/**
 * The load (also called route): a sequence of stops, what it is assigned to, and its header
 * (specification/resources.md#load).
 */
import { type Static, Type } from "@sinclair/typebox";
import type { Fault } from "../../lib/errors.ts";
import { createEntityCheck } from "../fields/entity-check.ts";
import {
  code,
  coordinate,
  count,
  identifier,
  localDateTime,
  number,
  optionals,
  reference,
  text,
  textOrNumber,
  timeZone,
} from "../fields/fields.ts";
import { AddressAndContact } from "../stop/party.ts";
import { attachments, quantities } from "../stop/shipment-fields.ts";
import { Stop, stopWindowFaults, withRelations } from "../stop/stop.ts";
import { fieldsOf, listOf } from "../fields/fields-of-json.ts";
import { windowFaults } from "../stop/time-order.ts";

const identity = {
  loadNbr: identifier("loadNbr"),
  ...optionals(localDateTime, "earliestStartDttm", "latestStartDttm"),
  signatureRequired: Type.Optional(Type.Boolean()),
  loadTimeZone: Type.Optional(timeZone()),
  stopSeqOrder: Type.Optional(textOrNumber("stopSeqOrder")),
  ...optionals(reference, "masterBol", "pronbr", "reference", "reference2", "reference3", "sealNbr"),
  ...optionals(reference, "contractCode"),
};

const origin = {
  origin: Type.Optional(reference("origin")),
  ...optionals(text, "originName", "originAddr1", "originAddr2", "originCity", "originState"),
  originZip: Type.Optional(textOrNumber("originZip")),
  originCountry: Type.Optional(text("originCountry")),
  originPhoneNumber: Type.Optional(textOrNumber("originPhoneNumber")),
  originLatitude: Type.Optional(coordinate(90)),
  originLongitude: Type.Optional(coordinate(180)),
  depot: Type.Optional(AddressAndContact),
};

const vehicle = {
  ...optionals(reference, "tractorNbr", "trailerNbr"),
  ...optionals(textOrNumber, "trailerSize", "trailerType"),
};

const measures = {
  ...quantities,
  ...optionals(count, "prePlannedLoadDistance", "prePlannedLoadDuration", "congestionFactor"),
};

/** Only in retrievals; a host that sends them gets them back. */
const retrieved = {
  routeName: Type.Optional(textOrNumber("routeName")),
  cusAccNbr: Type.Optional(reference("cusAccNbr")),
  cusBillAmt: Type.Optional(count()),
  profile: Type.Optional(textOrNumber("profile")),
  /** `ALWAYS` has the load completed only when it is back at the depot. */
  returnToDepot: Type.Optional(text("returnToDepot")),
  delayReasonCode: Type.Optional(number()),
  ...optionals(text, "delayReasonCodeComment", "workType"),
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
  carrierCode: Type.Optional(code("carrierCode")),
  assignmentCriteria: Type.Optional(textOrNumber("assignmentCriteria")),
  // Not held to the lengths of an assignment of its own: the detail of a load tells these of any user.
  driverCdl: Type.Optional(reference("cdlNumber")),
  driverEmail: Type.Optional(code("email")),
  driverName: Type.Optional(text("fullName")),
  driverUserName: Type.Optional(code("userName")),
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

function repeatedStops(load: unknown, path: string): Fault[] {
  const first = new Map<string, number>();
  const faults: Fault[] = [];
  for (const [index, stop] of listOf(fieldsOf(load)["stops"]).entries()) {
    const { stopNbr } = fieldsOf(stop);
    if (typeof stopNbr !== "string") continue;
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

function windowsOf(load: unknown, path: string): Fault[] {
  const { loadHeader, stops } = fieldsOf(load);
  const { earliestStartDttm, latestStartDttm, loadTimeZone: zone } = fieldsOf(loadHeader);
  const window = { begin: earliestStartDttm, end: latestStartDttm, zone, endName: "latestStartDttm" };
  const ofStops = listOf(stops).flatMap((stop, index) => stopWindowFaults(stop, `${path}.stops[${index}]`));
  return [...windowFaults(window, `${path}.loadHeader`), ...ofStops];
}

/**
 * What is wrong with a load that has been through `normaliseLoad`; an empty list when nothing is. `path` is where it
 * stands in the request (`loads[3]`). At most 50 faults.
 */
export function validateLoad(value: unknown, path: string): Fault[] {
  return withRelations(checkLoad(value, path), [...repeatedStops(value, path), ...windowsOf(value, path)]);
}
