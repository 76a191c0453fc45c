/** The customer: an account with its addresses and contracts (specification/resources.md#customer). */
import { type Static, Type } from "@sinclair/typebox";
import { createEntityCheck } from "../fields/entity-check.ts";
import { identifier, optionals, reference, text, timeOfDay } from "../fields/fields.ts";
import { Address, AddressAndContact, Contact } from "../stop/party.ts";

const CustomerAddress = Type.Object({
  label: Type.Optional(text("label")),
  address: Type.Optional(Address),
  contact: Type.Optional(Contact),
  operatingHours: Type.Optional(
    Type.Object({ timeFrom: Type.Optional(timeOfDay()), timeTo: Type.Optional(timeOfDay()) }),
  ),
});

export const Customer = Type.Object({
  accountNumber: identifier("accountNumber"),
  ...optionals(text, "name", "status"),
  contracts: Type.Optional(
    Type.Array(Type.Object({ contractCode: Type.Optional(reference("contractCode")) })),
  ),
  billTo: Type.Optional(AddressAndContact),
  addresses: Type.Optional(Type.Array(CustomerAddress)),
});
export type Customer = Static<typeof Customer>;

/**
 * What is wrong with a customer; an empty list when nothing is. `path` is where it stands in the request
 * (`customers[3]`). At most 50 faults.
 */
export const validateCustomer = createEntityCheck(Customer);
