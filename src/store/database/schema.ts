/**
 * The tables, as Kysely sees them. Rows never leave `store/`.
 *
 * Kept portable: integers, text and real only; times are milliseconds UTC, booleans 0 or 1, JSON is text.
 */
import type { Generated } from "kysely";
import type { LoadStatus } from "../../domain/load/load-status.ts";
import type { StopStatus } from "../../domain/stop/stop-status.ts";
import type { ConsoleTables } from "../accounts/console-rows.ts";
import type { AlertTables } from "../alerts/alert-rows.ts";
import type { ClusterTables } from "../cluster/cluster-rows.ts";
import type { CountTables } from "../ledger/count-rows.ts";
import type { FileTables } from "../ledger/file-rows.ts";
import type { OutboundTables } from "../outbound/outbound-rows.ts";

export interface Tables
  extends OutboundTables,
    AlertTables,
    ConsoleTables,
    CountTables,
    FileTables,
    ClusterTables {
  meta: {
    key: string;
    value: string;
  };
  companies: {
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
  };
  users: {
    id: Generated<number>;
    user_name: string;
    password_hash: string | null;
    is_enabled: number;
    must_change_password: number;
    created_at: number;
    updated_at: number;
  };
  memberships: {
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
  };
  user_keys: {
    id: Generated<number>;
    user_id: number;
    key_type: string;
    /** Base64 of the SSH wire form. */
    key_blob: string;
    comment: string;
    created_at: number;
  };
  sign_in_addresses: {
    user_id: number;
    /** The form in which dropgate counts addresses: the IPv4 address, or the /64 of an IPv6 address. */
    peer: string;
    last_at: number;
  };
  /** The carriers that a user belongs to, by `assignedGroups` and `accountNumber`. */
  user_carriers: {
    company_id: number;
    partner_code: string;
    user_id: number;
  };
  partners: {
    id: Generated<number>;
    company_id: number;
    partner_code: string;
    partner_type: string | null;
    /** JSON: the business partner as it came. */
    body: string;
    created_at: number;
    updated_at: number;
  };
  stops: {
    id: Generated<number>;
    company_id: number;
    stop_nbr: string;
    /** Lower case, for numbers taken from file names. */
    stop_nbr_key: string;
    stop_status: StopStatus;
    receive_status: "00" | "10";
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
  };
  loads: {
    id: Generated<number>;
    company_id: number;
    load_nbr: string;
    load_status: LoadStatus;
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
  };
  orders: {
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
  };
  customers: {
    id: Generated<number>;
    company_id: number;
    account_number: string;
    /** JSON: the customer as the host sent it last. */
    body: string;
    created_at: number;
    updated_at: number;
  };
  /** Imports that are answered before they are applied. */
  imports: {
    id: Generated<number>;
    guid: string;
    company_id: number;
    service_name: string;
    user_name: string;
    received_at: number;
    finished_at: number | null;
  };
  /** The loads of an import, each applied by itself. */
  import_items: {
    import_id: number;
    /** From 0. */
    position: number;
    load_nbr: string;
    state: "waiting" | "applied" | "refused";
    /** JSON: the load, until it is decided. */
    body: string | null;
    /** JSON array of faults. */
    reasons: string;
    decided_at: number | null;
  };
  /** Documents; the document store has the content under its hash. */
  documents: {
    company_id: number;
    guid: string;
    sha256: string;
    size: number;
    name: string | null;
    created_at: number;
  };
  recorded_events: {
    id: Generated<number>;
    company_id: number;
    stop_nbr: string | null;
    load_nbr: string | null;
    event_code: number;
    recorded_at: number;
    /** JSON: the rest of the event. */
    data: string;
  };
  /** Up to which file, in the order of their decisions, those of a kind have been removed. */
  retention_marks: {
    company_id: number;
    kind: string;
    decided_at: number;
    file_id: number;
  };
  /** How many entries of the ledger were removed because of their age, by their states. */
  pruned_entries: {
    company_id: number;
    applied: number;
    refused: number;
    duplicate: number;
    superseded: number;
    /** When the newest of them was decided. */
    decided_until: number;
    /** When entries were removed last, and for which age. */
    pruned_at: number;
    pruned_days: number;
  };
  /** One row: how many ids of the ledger had no entry when entries began to be removed by their age. */
  ledger_gaps: {
    ids: number;
  };
  /** Route events as they were reported, each once. */
  reported_events: {
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
  };
  /** Where loads under way have been, by the positions' own times. */
  positions: {
    load_id: number;
    at: number;
    event_dttm: string;
    event_tz: string;
    latitude: number;
    longitude: number;
    reported_by: string;
  };
  /** Where a load was last, by whatever report, and when its ETAs were calculated. */
  route_progress: {
    load_id: number;
    at: number;
    latitude: number;
    longitude: number;
    eta_at: number | null;
  };
  remote_files: {
    company_id: number;
    remote: string;
    name: string;
    size: number;
    /** As the server wrote it. */
    modified: string;
    sha256: string;
    /**
     * `taken`: its bytes were durable here, about to get their place in `inbound/`; the ledger shows whether they have got
     * it. `seen`: it is ignored as long as it stays the same.
     */
    state: "taken" | "seen";
    /** The last entry of the ledger before it was taken. */
    after_file_id: number;
    noted_at: number;
  };
  /** The state of a remote: written by its poller, but for `asked_at`, which commands write. */
  remote_states: {
    company_id: number;
    remote: string;
    /** When the last poll ended, and the last one without a fault. */
    polled_at: number | null;
    succeeded_at: number | null;
    /** Polls in a row that have failed. */
    failures: Generated<number>;
    paused_until: Generated<number>;
    fault: string | null;
    fault_text: string | null;
    /** When somebody last requested a poll; 0 when nobody has. */
    asked_at: Generated<number>;
    /** `asked_at` of the last request that a poll has answered: one that began after it, and has ended. */
    answered_asked_at: Generated<number>;
  };
  appointments: {
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
    state: "held" | "confirmed" | "released" | "expired";
    quantity: number;
    weight: number;
    volume: number;
    service_minutes: number;
    /** When a hold ends; null for all else. */
    expires_at: number | null;
    created_at: number;
    updated_at: number;
  };
  /** What the held and confirmed appointments of a slot take together. A hold counts until it is marked as expired. */
  appointment_use: {
    company_id: number;
    region: string;
    slot_key: string;
    appointments: number;
    quantity: number;
    weight: number;
    volume: number;
    service_minutes: number;
  };
}
