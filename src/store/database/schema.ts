/**
 * The tables, as Kysely sees them. Rows never leave `store/`.
 *
 * Kept portable: integers, text and real only; times are milliseconds UTC, booleans 0 or 1, JSON is text.
 */
import type { Generated } from "kysely";
import type {
  CompletionsTable,
  DeliveriesTable,
  DeliveryAttemptsTable,
  DeliveryRepeatsTable,
  ExportSchedulesTable,
  ExportsTable,
  OutboundEventsTable,
  OutboundSettingsTable,
  OutboundTargetsTable,
} from "../outbound/outbound-rows.ts";
import type { MessageTables } from "../outbound/message-rows.ts";
import type { AppointmentTables } from "../appointments/appointment-rows.ts";
import type { RemoteFilesTable, RemoteStatesTable } from "../ledger/remote-rows.ts";

export interface MetaTable {
  key: string;
  value: string;
}

export interface CompaniesTable {
  id: Generated<number>;
  code: string;
  /** Lower case; codes compare without regard to case. */
  code_key: string;
  created_at: number;
  name: string | null;
  addr1: string | null;
  addr2: string | null;
  city: string | null;
  state: string | null;
  zip: string | null;
  country: string | null;
}

export interface UsersTable {
  id: Generated<number>;
  user_name: string;
  password_hash: string | null;
  is_enabled: number;
  must_change_password: number;
  created_at: number;
  updated_at: number;
}

export interface MembershipsTable {
  company_id: number;
  user_id: number;
  user_name: string;
  /** JSON array of role names. */
  roles: string;
  /** JSON: the user as the company sent it last, without password and roles. */
  profile: string;
  email: string | null;
  cdl_number: string | null;
  /** First and last name. */
  full_name: string | null;
  /** 1: reports no events, and is never picked as available. */
  unable_to_use_app: Generated<number>;
}

/** The carriers that a user belongs to, by `assignedGroups` and `accountNumber`. */
export interface UserCarriersTable {
  company_id: number;
  partner_code: string;
  user_id: number;
}

export interface UserKeysTable {
  id: Generated<number>;
  user_id: number;
  key_type: string;
  /** Base64 of the SSH wire form. */
  key_blob: string;
  comment: string;
  created_at: number;
}

export interface SignInAddressesTable {
  user_id: number;
  /** What an address is counted by. */
  peer: string;
  last_at: number;
}

export interface PartnersTable {
  id: Generated<number>;
  company_id: number;
  partner_code: string;
  partner_type: string | null;
  /** JSON: the business partner as it came. */
  body: string;
  created_at: number;
  updated_at: number;
}

export interface StopsTable {
  id: Generated<number>;
  company_id: number;
  stop_nbr: string;
  /** Lower case, for numbers taken from file names. */
  stop_nbr_key: string;
  stop_status: string;
  receive_status: string;
  receive_dttm: string | null;
  carrier_code: string | null;
  assignment_criteria: string | null;
  shipment_nbr: string | null;
  seal_nbr: string | null;
  bol: string | null;
  reference1: string | null;
  reference2: string | null;
  /** JSON: the canonical stop as the host sent it last. */
  body: string;
  /** JSON: the part of the body that route events need; null where it is not stored apart. */
  routed: string | null;
  /** JSON: cancellation, exceptions, actual times. */
  execution: string;
  /** Time in the name of the newest file applied to this stop, as CCYYMMDDHHMMSS; null when no file was. */
  file_time: number | null;
  /** The load that the stop is on. */
  load_id: number | null;
  /** Its place among the stops of the load in the order of their visits, from 0. */
  load_position: number | null;
  /** Its place in the list of the load import, from 0. */
  listed_position: number | null;
  /** `stopSeq` where it is a number. */
  stop_seq: number | null;
  created_at: number;
  updated_at: number;
}

export interface LoadsTable {
  id: Generated<number>;
  company_id: number;
  load_nbr: string;
  load_status: number;
  carrier_code: string | null;
  assignment_criteria: string | null;
  driver_user_id: number | null;
  /** JSON: the driver as the load shows it; `{}` without one. */
  driver: string;
  reference: string | null;
  seal_nbr: string | null;
  /** JSON: the load header as the host sent it last. */
  body: string;
  /** JSON: what else the host sent with the load: `load`, its further members, and `assignment`, as it came. */
  extra: string;
  /** JSON: actual times, cancellation. */
  execution: string;
  created_at: number;
  updated_at: number;
}

export interface OrdersTable {
  id: Generated<number>;
  company_id: number;
  order_nbr: string;
  /** JSON: the order as the host sent it last. */
  body: string;
  /** 1 when the order was deleted or rejected; otherwise its state is that of its stop. */
  is_cancelled: number;
  /** JSON: the reason, when it was. */
  cancellation: string;
  created_at: number;
  updated_at: number;
}

export interface CustomersTable {
  id: Generated<number>;
  company_id: number;
  account_number: string;
  /** JSON: the customer as the host sent it last. */
  body: string;
  created_at: number;
  updated_at: number;
}

/** Imports that are answered before they are applied. */
export interface ImportsTable {
  id: Generated<number>;
  guid: string;
  company_id: number;
  service_name: string;
  user_name: string;
  received_at: number;
  finished_at: number | null;
}

/** The loads of an import, each applied by itself. */
export interface ImportItemsTable {
  import_id: number;
  /** From 0. */
  position: number;
  load_nbr: string;
  state: string;
  /** JSON: the load, until it is decided. */
  body: string | null;
  /** JSON array of faults. */
  reasons: string;
  decided_at: number | null;
}

/** Documents whose content lies under its hash in the document store. */
export interface DocumentsTable {
  company_id: number;
  guid: string;
  sha256: string;
  size: number;
  name: string | null;
  created_at: number;
}

export interface RecordedEventsTable {
  id: Generated<number>;
  company_id: number;
  stop_nbr: string | null;
  load_nbr: string | null;
  event_code: number;
  recorded_at: number;
  /** JSON: the rest of the event. */
  data: string;
}

export interface FilesTable {
  id: Generated<number>;
  company_id: number;
  name: string;
  /** Time in the name as CCYYMMDDHHMMSS, null when the name has none. */
  name_time: number | null;
  sha256: string | null;
  size: number;
  channel: string;
  user_name: string | null;
  received_at: number;
  state: string;
  stop_function: string | null;
  stop_nbr: string | null;
  document_id: string | null;
  /** JSON array of faults. */
  reasons: string;
  records_created: number;
  records_updated: number;
  records_deleted: number;
  decided_at: number | null;
  /** Where the bytes lay when the file was taken: relative to the state directory, absolute outside of it. */
  source: string;
  /** Where the bytes lie, or, while `is_filed` is 0 and the state is decided, are being moved to. */
  location: string;
  /** 0 while the move to `archive/` or `error/` and the receipt are still to be done. */
  is_filed: number;
  first_id: number | null;
  removed_at: number | null;
  removed_by: string | null;
}

/** The stops of a file with several, but for the first, which stands in `files`. */
export interface FileStopsTable {
  company_id: number;
  stop_nbr: string;
  file_id: number;
}

/** What was decided about a file before somebody asked for it to be tried again. */
export interface FileRepeatsTable {
  id: Generated<number>;
  file_id: number;
  asked_at: number;
  state: string;
  decided_at: number | null;
  /** JSON array of faults. */
  reasons: string;
}

/** Route events as they were reported, each once. */
export interface ReportedEventsTable {
  id: Generated<number>;
  load_id: number;
  /** Empty for events of the whole route. */
  stop_nbr: string;
  event_code: string;
  event_dttm: string;
  event_tz: string;
  latitude: number | null;
  longitude: number | null;
  reported_by: string;
  received_at: number;
}

/** Where loads under way have been, by the positions' own times. */
export interface PositionsTable {
  load_id: number;
  at: number;
  event_dttm: string;
  event_tz: string;
  latitude: number;
  longitude: number;
  reported_by: string;
}

/** Where a load was last, by whatever report, and when its ETAs were worked out. */
export interface RouteProgressTable {
  load_id: number;
  at: number;
  latitude: number;
  longitude: number;
  eta_at: number | null;
}

export interface Tables extends AppointmentTables, MessageTables {
  meta: MetaTable;
  companies: CompaniesTable;
  users: UsersTable;
  memberships: MembershipsTable;
  user_keys: UserKeysTable;
  sign_in_addresses: SignInAddressesTable;
  user_carriers: UserCarriersTable;
  partners: PartnersTable;
  stops: StopsTable;
  loads: LoadsTable;
  orders: OrdersTable;
  customers: CustomersTable;
  imports: ImportsTable;
  import_items: ImportItemsTable;
  documents: DocumentsTable;
  recorded_events: RecordedEventsTable;
  files: FilesTable;
  file_stops: FileStopsTable;
  file_repeats: FileRepeatsTable;
  reported_events: ReportedEventsTable;
  positions: PositionsTable;
  route_progress: RouteProgressTable;
  outbound_targets: OutboundTargetsTable;
  outbound_events: OutboundEventsTable;
  outbound_settings: OutboundSettingsTable;
  completions: CompletionsTable;
  deliveries: DeliveriesTable;
  delivery_repeats: DeliveryRepeatsTable;
  delivery_attempts: DeliveryAttemptsTable;
  export_schedules: ExportSchedulesTable;
  exports: ExportsTable;
  remote_files: RemoteFilesTable;
  remote_states: RemoteStatesTable;
}
