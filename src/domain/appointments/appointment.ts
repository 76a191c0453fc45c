/** Appointment objects: the requests for slots and reservations (specification/appointments.md#objects). */
import { hash } from "node:crypto";
import { type Static, Type } from "@sinclair/typebox";
import { maxKeptFaults, type Fault } from "../../lib/errors.ts";
import { maxAmount, oneAppointment, type Share, thousandthsOf } from "./appointment-capacity.ts";
import {
  amountAskedFor,
  code,
  identifier,
  localOrInstant,
  optionals,
  reference,
  text,
  textOrNumber,
} from "../fields/fields.ts";

const address = {
  ...optionals(text, "addr1", "addr2", "city", "state"),
  zip: Type.Optional(textOrNumber("zip")),
  country: Type.Optional(text("country")),
};

/** A partner's code has the length of what assignments name as `carrierCode`. */
const place = {
  ...address,
  partnerCode: Type.Optional(code("carrierCode")),
  schedulingAttribute: Type.Optional(reference("schedulingAttribute")),
};

/** `readShare` checks their values. */
const amounts = {
  ...optionals(amountAskedFor, "quantity", "weight", "volume"),
  /** Minutes. */
  serviceTime: Type.Optional(amountAskedFor("serviceTime")),
};

export const SlotRequest = Type.Object({
  /** The number of an order, if there is one. */
  orderId: Type.Optional(code("orderNbr")),
  ...place,
  ...amounts,
  /** Local to the region that serves the address, unless it is an instant. */
  apptStartDate: Type.Optional(localOrInstant()),
});
export type SlotRequest = Static<typeof SlotRequest>;

export const SlotListing = Type.Object({ apptRequest: SlotRequest });

export const Reservation = Type.Object({
  timeSlotId: identifier("timeSlotId"),
  /** The number of an order, or `Not Available`. */
  orderId: identifier("orderNbr"),
  ...place,
  ...amounts,
});
export type Reservation = Static<typeof Reservation>;

export const SlotReservation = Type.Object({ apptReservation: Reservation });

const notAvailable = "not available";

/** The number of the order that a request names; undefined when there is none yet. */
export function orderNbrOf({ orderId = "" }: { readonly orderId?: string }): string | undefined {
  return orderId === "" || orderId.trim().toLowerCase() === notAvailable ? undefined : orderId;
}

const amountFields = [
  ["quantity", "quantity"],
  ["weight", "weight"],
  ["volume", "volume"],
  ["serviceTime", "serviceMinutes"],
] as const;

type Amounts = Pick<SlotRequest, (typeof amountFields)[number][0]>;

export interface ReadShare {
  readonly share: Share;
  /** Whether the request names any amount. */
  readonly isNamed: boolean;
  readonly faults: readonly Fault[];
}

/** What a request takes: one appointment, and the amounts that it names. `path` is where they stand. */
export function readShare(request: Amounts, path: string): ReadShare {
  const share = { ...oneAppointment };
  const faults: Fault[] = [];
  let isNamed = false;
  for (const [field, name] of amountFields) {
    const value = request[field];
    if (value === undefined || value === null || value === "") continue;
    isNamed = true;
    const taken = thousandthsOf(value);
    if (taken !== undefined) share[name] = taken;
    else if (faults.length < maxKeptFaults) {
      const at = `${path}.${field}`;
      const message = `${at} has the value ${JSON.stringify(value).slice(0, 60)}. Send a number from 0 to ${maxAmount}.`;
      faults.push({ code: "wrongType", path: at, message });
    }
  }
  return { share, isNamed, faults };
}

/** Equal for the same address, however it is written; undefined when none is given. */
export function addressKeyOf(request: SlotRequest | Reservation): string | undefined {
  const parts = [request.addr1, request.addr2, request.city, request.state, request.zip, request.country];
  const written = parts.map((part) =>
    String(part ?? "")
      .trim()
      .replaceAll(/\s+/g, " ")
      .toLowerCase(),
  );
  return written.every((part) => part === "") ? undefined : hash("sha256", JSON.stringify(written));
}
