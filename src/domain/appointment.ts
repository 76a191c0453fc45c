/** Appointment objects: the requests for slots and reservations (interface "Appointment objects"; decisions 9). */
import { hash } from "node:crypto";
import { type Static, Type } from "@sinclair/typebox";
import { maxKeptFaults, type Fault } from "../lib/errors.ts";
import { maxAmount, oneAppointment, type Share, thousandthsOf } from "./appointment-capacity.ts";
import { maxLengthOf } from "./field-limits.ts";
import { identifier, localDateTime, text, textOrNumber } from "./fields.ts";
import { type Fields, isFields, rewrite } from "./fields-of-json.ts";
import { normaliseLocalDateTime } from "./local-time.ts";

const address = {
  addr1: Type.Optional(text("addr1")),
  addr2: Type.Optional(text("addr2")),
  city: Type.Optional(text("city")),
  state: Type.Optional(text("state")),
  zip: Type.Optional(textOrNumber("zip")),
  country: Type.Optional(text("country")),
};

/** A partner's code has the length of what assignments name as `carrierCode`. */
const place = {
  ...address,
  partnerCode: Type.Optional(text("carrierCode")),
  schedulingAttribute: Type.Optional(textOrNumber("schedulingAttribute")),
};

/** A number, also as text; empty or null when it is absent. What it may be is checked by `readShare`. */
function amount(field: string) {
  return Type.Optional(Type.Union([text(field), Type.Number(), Type.Null()]));
}

const amounts = {
  quantity: amount("quantity"),
  weight: amount("weight"),
  volume: amount("volume"),
  /** Minutes. */
  serviceTime: amount("serviceTime"),
};

export const SlotRequest = Type.Object({
  /** The number of an order, if there is one. */
  orderId: Type.Optional(Type.String({ maxLength: maxLengthOf("orderNbr") })),
  ...place,
  ...amounts,
  apptStartDate: Type.Optional(localDateTime()),
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

/** The canonical form of a slot request as it came; what cannot be read stays for the check. */
export function normaliseSlotRequest(value: unknown): unknown {
  if (!isFields(value)) return value;
  const request: Fields = { ...value };
  const start = request["apptStartDate"];
  if (start === null || start === "") delete request["apptStartDate"];
  rewrite(request, "apptStartDate", normaliseLocalDateTime);
  return request;
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

/** The same for the same address, however it is written; undefined when none is given. */
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
