/** Who a stop comes from and goes to: addresses, contacts, schedules (specification/resources.md#party). */
import { type Static, Type } from "@sinclair/typebox";
import {
  coordinate,
  durationText,
  localDateTime,
  number,
  optionals,
  reference,
  text,
  textOrNull,
  timeZone,
} from "../fields/fields.ts";

export const Address = Type.Object({
  ...optionals(text, "name", "addr1", "addr2", "city", "state", "zip", "country", "landmark"),
  latitude: Type.Optional(coordinate(90)),
  longitude: Type.Optional(coordinate(180)),
});
export type Address = Static<typeof Address>;

export const Contact = Type.Object(optionals(textOrNull, "contactName", "email", "phone", "sms"));
export type Contact = Static<typeof Contact>;

/** An address and whom to ask for there: `markfor` of stops and details, depots, a customer's bill-to. */
export const AddressAndContact = Type.Object({
  address: Type.Optional(Address),
  contact: Type.Optional(Contact),
});
export type AddressAndContact = Static<typeof AddressAndContact>;

/**
 * The time window of a party. The expected duration has two names on the wire and one here: `estimatedDuration`,
 * minutes as text, which is how it is given back (specification/resources.md#schedule).
 */
export const Schedule = Type.Object({
  ...optionals(localDateTime, "timeFrom", "timeTo"),
  timeZone: Type.Optional(timeZone()),
  estimatedDuration: Type.Optional(durationText()),
});
export type Schedule = Static<typeof Schedule>;

export const Party = Type.Object({
  address: Type.Optional(Address),
  contact: Type.Optional(Contact),
  txnRef: Type.Optional(number()),
  seq: Type.Optional(reference("seq")),
  schedule: Type.Optional(Schedule),
  workType: Type.Optional(text("workType")),
  signatureRequired: Type.Optional(Type.Boolean()),
  imageRequired: Type.Optional(Type.Boolean()),
  feedbackForm: Type.Optional(text("feedbackForm")),
});
export type Party = Static<typeof Party>;
