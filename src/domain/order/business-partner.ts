/**
 * The business partner: a carrier to whom loads and stops are assigned (specification/resources.md#business-partner).
 */
import { type Static, Type } from "@sinclair/typebox";
import { createEntityCheck } from "../fields/entity-check.ts";
import { identifier, optionals, text } from "../fields/fields.ts";

export const BusinessPartner = Type.Object({
  /** What an assignment names as `carrierCode`: a longer one could never be assigned. */
  partnerCode: identifier("carrierCode"),
  ...optionals(text, "partnerName", "partnerType", "contactName", "contactEmail"),
});
export type BusinessPartner = Static<typeof BusinessPartner>;

/**
 * What is wrong with a business partner; an empty list when nothing is. `path` is where it stands in the request
 * (`businessPartners[3]`). At most 50 faults.
 */
export const validateBusinessPartner = createEntityCheck(BusinessPartner);
