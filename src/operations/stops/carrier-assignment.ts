/** The body of assigning and unassigning a carrier, and what has to hold for it (specification/gateway.md#bodies). */
import { Type } from "@sinclair/typebox";
import { identifier, textOrNumber } from "../../domain/fields/fields.ts";
import { DropgateError } from "../../lib/errors.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { isPartner } from "../../store/accounts/partners.ts";
import { type BodyInput, createBodyReader } from "../request-body.ts";

export const CarrierAssignment = Type.Object({
  carrierCode: identifier("carrierCode"),
  assignmentCriteria: Type.Optional(textOrNumber("assignmentCriteria")),
});

const readBody = createBodyReader(CarrierAssignment);

export interface ReadCarrierAssignment {
  readonly carrierCode: string;
  readonly assignmentCriteria: string | null;
}

/** Reads the body; throws a `DropgateError` with all its faults. */
export function readCarrierAssignment(input: BodyInput): ReadCarrierAssignment {
  const { carrierCode, assignmentCriteria } = readBody(input);
  return {
    carrierCode,
    assignmentCriteria: assignmentCriteria === undefined ? null : String(assignmentCriteria),
  };
}

/** `assignmentCriteria` 01: the carrier's available driver gets the load. As a number it is 1. */
export function asksForAvailableDriver(assignmentCriteria: string | null): boolean {
  return assignmentCriteria === "01" || assignmentCriteria === "1";
}

/** Throws 925 when the company has no such business partner. */
export async function requireCarrier(tx: Transaction, companyId: number, carrierCode: string): Promise<void> {
  if (await isPartner(tx, companyId, carrierCode)) return;
  throw new DropgateError(
    "partnerNotFound",
    `carrierCode ${carrierCode}: there is no such business partner. Import it first, or correct the code.`,
  );
}

/** Throws 964 unless the carrier that is to be taken away is the one assigned. */
export function checkAssigned(what: string, assigned: string | null, carrierCode: string): void {
  if (assigned === carrierCode) return;
  const found = assigned === null ? "has no carrier" : `is assigned to another carrier, ${assigned}`;
  throw new DropgateError("notAssigned", `the ${what} ${found}. Nothing was unassigned.`);
}
