/**
 * The tables of what goes out: targets, completions, deliveries, exports and customer messages
 * (specification/outbound.md#states-of-a-delivery).
 */
import type { Generated } from "kysely";
import type { MessageChannel } from "../../domain/messages/message-event.ts";
import type { DeliveryKind, DeliveryState } from "../../domain/outbound/delivery-state.ts";

export interface OutboundTables {
  /** The targets of the configuration, so that a state change can insert its deliveries in its own transaction. */
  outbound_targets: {
    id: Generated<number>;
    company_id: number;
    name: string;
    /** 1 when completions go there at once. */
    takes_completions: number;
    /** 0 when it is no longer in the configuration: its deliveries keep waiting, no new ones are added. */
    is_configured: number;
    /** Failed attempts in a row that were the fault of the whole target. */
    failures: Generated<number>;
    /** Until when the queue attempts nothing on the target; 0 when it is not paused. */
    paused_until: Generated<number>;
    /** Deliveries that are waiting or behind. Each transaction that changes one updates it, so that nobody has to count. */
    open_count: Generated<number>;
    /** How often a delivery became open, or due before its time: the queue sees by it which targets have news. */
    added_count: Generated<number>;
    /** Deliveries that are dead letters. */
    dead_count: Generated<number>;
  };
  /** Targets and remotes that somebody has paused until somebody resumes them. */
  hand_pauses: {
    company_id: number;
    kind: "target" | "remote";
    name: string;
    paused_at: number;
    paused_by: string;
    reason: string;
  };
  /** Events besides the completion of a stop that cause a completion file, and those that cause customer messages. */
  outbound_events: {
    company_id: number;
    causes: "completion" | "message";
    event_code: number;
  };
  /** Further settings that a state change has to know. A company without a row has the defaults. */
  outbound_settings: {
    company_id: number;
    embeds_documents: number;
  };
  /** A stop as it was when an event asked for a completion file, which is rendered from it, always to the same bytes. */
  completions: {
    id: Generated<number>;
    company_id: number;
    stop_nbr: string;
    /** The file's name, unique within the company. */
    name: string;
    /** Version of the rendering: a completion keeps its version. */
    format: number;
    embeds_documents: number;
    trigger_code: number;
    /** Recorded events of the stop from the first to the last of these belong to it. */
    first_event_id: number;
    last_event_id: number;
    stop_status: string;
    carrier_code: string | null;
    assignment_criteria: string | null;
    /** JSON: the canonical stop. */
    body: string;
    /** JSON: its execution. */
    execution: string;
    load_nbr: string | null;
    /** JSON: the driver of the load; `{}` without one. */
    driver: string;
    created_at: number;
  };
  /**
   * One row for each completion, export or message and each target.
   *
   *   behind --the one before it is done--> waiting --attempt--> delivered
   *                                            ^  \--temporary--> waiting (due later)
   *                                              \--permanent, or too old--> dead
   *
   * A message may also be put off (waiting, due later), or dropped without an attempt when it is of no use any more.
   *
   *   delivered, dead --retried, repeated--> waiting or behind, at its place in the line
   *   waiting, behind, dead --given up--> dropped --retried--> waiting or behind, at its place in the line
   *                                          \--an attempt was running--> delivered
   *
   * The open deliveries of one target and order key make a line: at most one is waiting, the first; the others are behind
   * it. Only the waiting one is attempted. Only the process knows of a running attempt: after a crash its delivery is
   * waiting. Somebody may request an earlier one during an attempt: the attempted one is then behind it until its outcome
   * is recorded.
   */
  deliveries: {
    id: Generated<number>;
    /** The id that the receiver knows: the same at every attempt. Ordered by time, so that its index grows at its end. */
    guid: string;
    company_id: number;
    target_id: number;
    kind: DeliveryKind;
    /** The id of the completion, export or message. */
    subject_id: number;
    /** Deliveries to one target with the same key go out one after the other: the stop's number, or the export's name. */
    order_key: string;
    /** The place in the line goes by this, then by id: 0 but for what an earlier version put at the end of its line. */
    line_nbr: number;
    /** File name, or the folder of an export of single files. */
    name: string;
    state: DeliveryState;
    due_at: number;
    attempts: Generated<number>;
    first_attempt_at: number | null;
    last_attempt_at: number | null;
    delivered_at: number | null;
    fault: string | null;
    fault_text: string | null;
    sha256: string | null;
    size: number | null;
    collected_at: number | null;
    collected_by: string | null;
    /** The address of the client. */
    collected_from: string | null;
    removed_at: number | null;
    removed_by: string | null;
    removed_from: string | null;
    created_at: number;
  };
  /** What a delivery was when somebody retried it, repeated it or gave it up. */
  delivery_repeats: {
    id: Generated<number>;
    delivery_id: number;
    asked_at: number;
    action: Generated<"again" | "giveUp">;
    /** Who, and why: of what was given up. */
    asked_by: string | null;
    reason: string | null;
    state: DeliveryState;
    attempts: number;
    last_attempt_at: number | null;
    delivered_at: number | null;
    sha256: string | null;
    size: number | null;
    fault: string | null;
    fault_text: string | null;
    collected_at: number | null;
    collected_by: string | null;
    /** The address of the client. */
    collected_from: string | null;
    removed_at: number | null;
    removed_by: string | null;
    removed_from: string | null;
  };
  /** Attempts that failed, for `dropgate delivery show`. */
  delivery_attempts: {
    id: Generated<number>;
    delivery_id: number;
    at: number;
    duration_ms: number;
    fault: string;
    fault_text: string;
  };
  /** When an export runs next, and up to which completion it has gone. */
  export_schedules: {
    company_id: number;
    name: string;
    /** JSON: schedule and zone that `next_due_at` was calculated with. */
    schedule: string;
    /** Null when it runs only by hand. */
    next_due_at: number | null;
    /** The last completion that was exported; 0 before the first. */
    watermark: number;
  };
  exports: {
    id: Generated<number>;
    company_id: number;
    name: string;
    /** From 1 for each company and name. */
    sequence_nbr: number;
    /** The completions of the company after the first and up to the last of these; none when both are the same. */
    after_completion_id: number;
    last_completion_id: number;
    /** How the file counts these two; null: by themselves. */
    window_begin: number | null;
    window_end: number | null;
    /** `document` or `files`. */
    form: string;
    /** The moment it was due; null for one that somebody requested by hand. */
    due_at: number | null;
    created_at: number;
  };
  /**
   * One message to one address, with its values as they were when its event was recorded. Its delivery is in
   * `deliveries`.
   */
  messages: {
    id: Generated<number>;
    company_id: number;
    stop_nbr: string;
    /** Code of the recorded event; 0 when the planned arrival has moved. */
    event_code: number;
    channel: MessageChannel;
    /** As the host sent it. */
    address: string;
    /** JSON: the values of the placeholders. */
    facts: string;
    created_at: number;
  };
  /** Which messages the configuration asks for: a copy, for the transactions of state changes. */
  message_plans: {
    company_id: number;
    /** JSON. */
    plan: string;
  };
  /** The planned arrival that was last announced to a customer, or that was the first to be known. */
  message_etas: {
    company_id: number;
    stop_nbr: string;
    load_id: number;
    eta_at: number;
  };
  /** Addresses that want no messages. */
  message_opt_outs: {
    company_id: number;
    /** Addresses with the same key are the same. */
    address_key: string;
    created_at: number;
  };
}
