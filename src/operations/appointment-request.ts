/** What listing and reserving time slots have in common: their deps, and bodies with one object in them. */
import type { AppointmentSettings } from "../domain/appointment-region.ts";
import { isFields } from "../domain/fields-of-json.ts";
import type { Clock } from "../lib/clock.ts";
import type { Fault } from "../lib/errors.ts";
import type { Store } from "../store/database.ts";
import { type BodyInput, refusal } from "./request-body.ts";

export interface AppointmentDeps {
  readonly store: Pick<Store, "read" | "write">;
  readonly clock: Clock;
  /** The settings of a company by its code, asked for at each request. */
  readonly appointments: (companyCode: string) => AppointmentSettings;
}

export interface AppointmentInput extends BodyInput {
  readonly companyId: number;
}

/** Throws 903 when the object of that name is missing. */
export function requireObject({ body }: AppointmentInput, name: "apptRequest" | "apptReservation"): void {
  if (!isFields(body)) return;
  const value = body[name];
  if (value === undefined || value === null) {
    const message = `${name} is missing. Send the request as an object of that name.`;
    throw refusal([{ code: "emptyList", path: name, message }]);
  }
}

/** Throws when there are faults. */
export function refuseFaults(faults: readonly Fault[]): void {
  if (faults.length > 0) throw refusal(faults);
}

/** The request's fields as they are given back: all but those of these names. */
export function fieldsBut(request: object, names: readonly string[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(request).filter(([name]) => !names.includes(name)));
}
