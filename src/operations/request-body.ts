/**
 * Bodies of operations on one thing: an object that is checked against its definition
 * (specification/gateway.md#bodies).
 */
import type { Static, TSchema } from "@sinclair/typebox";
import { isSameCompanyCode } from "../domain/users/company-code.ts";
import { createCanonicalForm } from "../domain/fields/canonical-form.ts";
import { createEntityCheck } from "../domain/fields/entity-check.ts";
import { maxLengthOf } from "../domain/fields/field-limits.ts";
import { charactersIn } from "../domain/fields/fields.ts";
import { isFields } from "../domain/fields/fields-of-json.ts";
import { unknownFieldFaults } from "../domain/fields/unknown-fields.ts";
import { DropgateError, type Fault, maxKeptFaults } from "../lib/errors.ts";

/** What is wrong with the `companyCode` of a body whose path names `expected`; undefined when nothing is. */
export function faultOfCompanyCode(found: unknown, expected: string): Fault | undefined {
  const path = "companyCode";
  const remedy = "Send the code of the company in the path.";
  if (found === undefined || found === null || found === "")
    return { code: "missing", path, message: `companyCode is missing. ${remedy}` };
  const code = typeof found === "string" ? found.trim() : found;
  if (typeof code !== "string")
    return { code: "wrongType", path, message: `companyCode is not text. ${remedy}` };
  const maximum = maxLengthOf("companyCode");
  if (charactersIn(code) > maximum) {
    const message = `companyCode is ${charactersIn(code)} characters long, more than its maximum of ${maximum}. Shorten it.`;
    return { code: "tooLong", path, message };
  }
  if (isSameCompanyCode(code, expected)) return undefined;
  const message = `companyCode is ${code}, but the path names ${expected}. Send the same code in both.`;
  return { code: "companyDiffers", path, message };
}

/** The error of a request with faults. Throws when there are none, which would be a fault of the caller. */
export function refusal(faults: readonly Fault[]): DropgateError {
  const [first] = faults;
  if (first === undefined) throw new Error("a request was refused without a fault");
  return new DropgateError(first.code, first.message, { faults: faults.slice(0, maxKeptFaults) });
}

export interface BodyInput {
  /** The code in the request's path. */
  readonly companyCode: string;
  /** The request's body as parsed JSON. */
  readonly body: unknown;
  readonly unknownFields?: "keep" | "refuse";
}

/** The same for an operation that needs no more than the body. */
export interface CompanyBody extends BodyInput {
  readonly companyId: number;
}

/** Makes a reader of bodies of this definition; it throws a `DropgateError` with all faults. */
export function createBodyReader<Schema extends TSchema>(
  schema: Schema,
): (input: BodyInput) => Static<Schema> {
  const canonical = createCanonicalForm(schema);
  const check = createEntityCheck(schema);
  return ({ companyCode, body, unknownFields = "keep" }) => {
    if (!isFields(body)) {
      throw new DropgateError("wrongType", "the body is not an object. Send a JSON object.");
    }
    const { companyCode: code, ...sent } = body;
    const fields = canonical(sent);
    const company = code === undefined || code === null ? undefined : faultOfCompanyCode(code, companyCode);
    const faults = [...(company === undefined ? [] : [company]), ...check(fields, "")];
    if (unknownFields === "refuse") faults.push(...unknownFieldFaults(schema, fields, ""));
    if (faults.length > 0) throw refusal(faults);
    return fields as Static<Schema>;
  };
}
