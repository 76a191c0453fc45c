/** What listing and reserving time slots have in common: their deps, and bodies with one object in them. */
import type { AppointmentSettings } from "../../domain/appointments/appointment-region.ts";
import { isFields } from "../../domain/fields/fields-of-json.ts";
import { sentAppointment } from "../../domain/fields/shown-form.ts";
import type { StoreDeps } from "../operation-deps.ts";
import { type CompanyBody, refusal } from "../request-body.ts";

export interface AppointmentDeps extends StoreDeps {
  /** The settings of a company by its code, read at each request. */
  readonly appointments: (companyCode: string) => AppointmentSettings;
}

/**
 * The input without what an answer of that name has beside the request, so that it can be sent back. Throws 903 when the
 * object is missing.
 */
export function sentInput(input: CompanyBody, name: "apptRequest" | "apptReservation"): CompanyBody {
  const { body } = input;
  if (!isFields(body)) return input;
  const value = body[name];
  if (value === undefined || value === null) {
    const message = `${name} is missing. Send the request as an object of that name.`;
    throw refusal([{ code: "emptyList", path: name, message }]);
  }
  return { ...input, body: { ...body, [name]: sentAppointment(value) } };
}

/** The request's fields as they are returned: all but those of these names. */
export function fieldsBut(request: object, names: readonly string[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(request).filter(([name]) => !names.includes(name)));
}
