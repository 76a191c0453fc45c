/** Regions for tests of appointments. */
import {
  type AppointmentRegion,
  type AppointmentSettings,
  noAppointments,
} from "../../src/domain/appointments/appointment-region.ts";
import { weekdays } from "../../src/domain/time/weekday.ts";
import type { Capacity } from "../../src/domain/appointments/appointment-capacity.ts";

/** A region of every address with these windows (`08:00-12:00`), each of that capacity. */
export function regionOf(
  capacity: Capacity,
  windows: readonly string[] = ["08:00-12:00", "13:00-17:00"],
  change: Partial<AppointmentRegion> = {},
): AppointmentRegion {
  return {
    ...{ name: "North", zone: "America/New_York", countries: [], zipPrefixes: [], partners: [] },
    ...{ schedulingAttributes: [], weekdays },
    windows: windows.map((window) => ({ from: window.slice(0, 5), to: window.slice(6), capacity })),
    ...change,
  };
}

export function settingsOf(
  regions: readonly AppointmentRegion[],
  change: Partial<AppointmentSettings> = {},
): AppointmentSettings {
  return { ...noAppointments, regions, ...change };
}
