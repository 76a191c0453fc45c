/** The tables of appointments, as Kysely sees them. Amounts are in thousandths, times milliseconds UTC. */
import type { Generated } from "kysely";

export interface AppointmentsTable {
  id: Generated<number>;
  company_id: number;
  region: string;
  /** Local date and configured beginning of the window, `YYYY-MM-DDThh:mm`. */
  slot_key: string;
  starts_at: number;
  /** Local times as they were written to the order; null for reservations from before these were stored. */
  time_from: string | null;
  time_to: string | null;
  time_zone: string | null;
  /** Null while it is held for an order that is not there yet. */
  order_nbr: string | null;
  /** By what a hold is found again when its order is there. */
  address_key: string | null;
  /** `held`, `confirmed`, `released`, `expired`. */
  state: string;
  quantity: number;
  weight: number;
  volume: number;
  service_minutes: number;
  /** When a hold ends; null for all else. */
  expires_at: number | null;
  created_at: number;
  updated_at: number;
}

/** What the held and confirmed appointments of a slot take together. A hold counts until it is marked as expired. */
export interface AppointmentUseTable {
  company_id: number;
  region: string;
  slot_key: string;
  appointments: number;
  quantity: number;
  weight: number;
  volume: number;
  service_minutes: number;
}

export interface AppointmentTables {
  appointments: AppointmentsTable;
  appointment_use: AppointmentUseTable;
}
