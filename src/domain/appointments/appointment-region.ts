/** Where appointments are offered, and which region an address belongs to (specification/appointments.md#regions). */
import type { Weekday } from "../time/weekday.ts";
import type { Capacity } from "./appointment-capacity.ts";

export interface AppointmentWindow {
  /** Local time of day, `hh:mm`; `to` may be `24:00`. */
  readonly from: string;
  readonly to: string;
  readonly capacity: Capacity;
}

export interface AppointmentRegion {
  readonly name: string;
  /** IANA. */
  readonly zone: string;
  /** Each list that is empty matches everything. */
  readonly countries: readonly string[];
  readonly zipPrefixes: readonly string[];
  readonly partners: readonly string[];
  readonly schedulingAttributes: readonly string[];
  readonly weekdays: readonly Weekday[];
  readonly windows: readonly AppointmentWindow[];
}

/** The settings of a company. */
export interface AppointmentSettings {
  readonly holdMinutes: number;
  readonly horizonDays: number;
  readonly leadMinutes: number;
  /** `YYYY-MM-DD`, in the zone of each region. */
  readonly closedDays: readonly string[];
  readonly regions: readonly AppointmentRegion[];
}

/** Those of a company that offers no appointments. */
export const noAppointments: AppointmentSettings = {
  holdMinutes: 30,
  horizonDays: 14,
  leadMinutes: 0,
  closedDays: [],
  regions: [],
};

/** The place that a request names. */
export interface AppointmentPlace {
  readonly zip?: string | number;
  readonly country?: string;
  readonly partnerCode?: string;
  readonly schedulingAttribute?: string | number;
}

/** Codes of countries and postal codes are written in any case, and with blanks or without. */
function folded(text: string | number): string {
  return String(text).replaceAll(/\s/g, "").toUpperCase();
}

function isAmong(list: readonly string[], value: string | number | undefined): boolean {
  return list.length === 0 || (value !== undefined && list.includes(String(value)));
}

function matches(region: AppointmentRegion, place: AppointmentPlace): boolean {
  const { countries, zipPrefixes, partners, schedulingAttributes } = region;
  const zip = folded(place.zip ?? "");
  return (
    (countries.length === 0 || countries.map(folded).includes(folded(place.country ?? ""))) &&
    (zipPrefixes.length === 0 || zipPrefixes.some((prefix) => zip.startsWith(folded(prefix)))) &&
    isAmong(partners, place.partnerCode) &&
    isAmong(schedulingAttributes, place.schedulingAttribute)
  );
}

/** The first region that the place matches, undefined when there is none. */
export function regionOf(
  regions: readonly AppointmentRegion[],
  place: AppointmentPlace,
): AppointmentRegion | undefined {
  return regions.find((region) => matches(region, place));
}
