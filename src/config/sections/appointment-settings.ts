import { type AppointmentSettings, noAppointments } from "../../domain/appointments/appointment-region.ts";
import { isSameCompanyCode } from "../../domain/users/company-code.ts";
import type { Config } from "../schema.ts";

/** What the configuration says of a company's appointments, by its code without regard to case. */
export function appointmentSettingsOf(
  config: Pick<Config, "companies">,
  companyCode: string,
): AppointmentSettings {
  const code = Object.keys(config.companies).find((candidate) => isSameCompanyCode(candidate, companyCode));
  return (code === undefined ? undefined : config.companies[code]?.appointments) ?? noAppointments;
}
