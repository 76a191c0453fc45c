/**
 * Schemas that say number 1 and are older than it: until 0.1.0 the first migration was changed in place. Each is known by
 * its fingerprint, and has the SQL that makes the next one of it; the last one's makes the schema of migration 1.
 */
import { sql as furtherStops } from "./early/1-further-stops.ts";
import { sql as gateway } from "./early/2-gateway.ts";
import { sql as driverReports } from "./early/3-driver-reports.ts";
import { sql as outbound } from "./early/4-outbound.ts";
import { sql as appointments } from "./early/5-appointments.ts";
import { sql as messages } from "./early/6-messages.ts";
import { sql as remotes } from "./early/7-remotes.ts";
import { sql as housekeeping } from "./early/8-housekeeping.ts";
import { sql as routedStops } from "./early/9-routed-stops.ts";

export interface EarlySchema {
  readonly fingerprint: string;
  readonly name: string;
  /** Makes the next one of it. */
  readonly sql: string;
}

/** Oldest first. */
export const earlySchemas: readonly EarlySchema[] = [
  { fingerprint: "6738a75f6ab5801c0abdf8f50aeb5ef0", name: "further stops of files", sql: furtherStops },
  { fingerprint: "a485f532cbdd779942a19fdba37aa1cf", name: "loads, orders, customers", sql: gateway },
  { fingerprint: "3215be7a1ea5e70099440c5305213fa4", name: "reports of drivers", sql: driverReports },
  { fingerprint: "d34db377dcccd5ece9fdfcdbcc45aa07", name: "deliveries", sql: outbound },
  { fingerprint: "c190bbc3830f0e2d476671db74366454", name: "appointments", sql: appointments },
  { fingerprint: "e9b8066be3889cab93f7365f4cdb6c75", name: "messages", sql: messages },
  { fingerprint: "34af2e56ecc95fc8de76ec5a53844ef6", name: "files of remotes", sql: remotes },
  { fingerprint: "a285b3580ec826363f33eb61b5409cc0", name: "indexes of housekeeping", sql: housekeeping },
  { fingerprint: "3733bc4fee9ce0ef98ff8ba7a739f91d", name: "stops on routes", sql: routedStops },
];
