/**
 * The rows of what goes out: targets, completions, deliveries and exports
 * (specification/outbound.md#states-of-a-delivery).
 */
import type { Generated } from "kysely";

/** The targets of the configuration, so that a state change can insert its deliveries in its own transaction. */
export interface OutboundTargetsTable {
  id: Generated<number>;
  company_id: number;
  name: string;
  /** 1 when completions go there at once. */
  takes_completions: number;
  /** 0 when it is no longer in the configuration: what waits for it keeps waiting, nothing new is added. */
  is_configured: number;
  /** Failed attempts in a row that were the fault of the whole target. */
  failures: Generated<number>;
  paused_until: Generated<number>;
  /** Deliveries that are waiting or behind: kept in each transaction that changes one, so that nobody has to count. */
  open_count: Generated<number>;
  /** How often a delivery has become open: it tells the queue that there is something new, and for which target. */
  added_count: Generated<number>;
  /** Deliveries that are dead letters. */
  dead_count: Generated<number>;
}

/** Further settings that a state change has to know. A company without a row has the defaults. */
export interface OutboundSettingsTable {
  company_id: number;
  embeds_documents: number;
}

/** Events besides the completion of a stop that cause a completion file, and those that cause customer messages. */
export interface OutboundEventsTable {
  company_id: number;
  /** `completion` or `message`. */
  causes: string;
  event_code: number;
}

/** A stop as it was when an event asked for a completion file; the file is rendered from it, each time to the same bytes. */
export interface CompletionsTable {
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
}

/**
 * One row for each completion, export or message and each target.
 *
 *   behind --the one before it is done--> waiting --attempt--> delivered
 *                                            ^  \--temporary--> waiting (due later)
 *                                  retry asked \--permanent, or too old--> dead
 *
 * A message may also be put off (waiting, due later) or dropped, without having been tried: it is then of no use any more.
 *
 *   delivered, dead --asked for again--> waiting or behind, at its place in the line
 *   waiting, behind, dead --given up by somebody--> dropped --asked for again--> waiting or behind, at its place
 *                                                        \--an attempt that was under way--> delivered
 *
 * The deliveries of one target and order key that are open make a line: at most one is waiting, the first; the others are
 * behind it. Only the one that is waiting is tried. What is being tried is known to the process alone: after a crash it is
 * waiting. When an earlier one is asked for again meanwhile, what is being tried is behind it until its outcome is recorded.
 */
export interface DeliveriesTable {
  id: Generated<number>;
  /** The id that the receiver knows: the same at every attempt. Ordered by time, so that its index grows at its end. */
  guid: string;
  company_id: number;
  target_id: number;
  /** `completion`, `export` or `message`. */
  kind: string;
  /** The id of the completion, export or message. */
  subject_id: number;
  /** Deliveries to one target with the same key go out one after the other: the stop's number, or the export's name. */
  order_key: string;
  /** The place in the line goes by this, then by id: 0 but for what an earlier version put at the end of its line. */
  line_nbr: number;
  /** File name, or the folder of an export of single files. */
  name: string;
  state: string;
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
  removed_at: number | null;
  removed_by: string | null;
  created_at: number;
}

/** Attempts that failed, for `dropgate delivery show`. */
export interface DeliveryAttemptsTable {
  id: Generated<number>;
  delivery_id: number;
  at: number;
  duration_ms: number;
  fault: string;
  fault_text: string;
}

/** What a delivery was when somebody retried it, repeated it or gave it up. */
export interface DeliveryRepeatsTable {
  id: Generated<number>;
  delivery_id: number;
  asked_at: number;
  /** `again` or `giveUp`. */
  action: Generated<string>;
  /** Who, and why: of what was given up. */
  asked_by: string | null;
  reason: string | null;
  state: string;
  attempts: number;
  last_attempt_at: number | null;
  delivered_at: number | null;
  sha256: string | null;
  size: number | null;
  fault: string | null;
  fault_text: string | null;
  collected_at: number | null;
  collected_by: string | null;
  removed_at: number | null;
  removed_by: string | null;
}

/** When an export runs next, and up to which completion it has gone. */
export interface ExportSchedulesTable {
  company_id: number;
  name: string;
  /** JSON: schedule and zone that `next_due_at` was calculated with. */
  schedule: string;
  next_due_at: number | null;
  /** The last completion that was exported. */
  watermark: number;
}

export interface ExportsTable {
  id: Generated<number>;
  company_id: number;
  name: string;
  /** From 1 for each company and name. */
  sequence_nbr: number;
  /** Completions after the first and up to the last of these. */
  after_completion_id: number;
  last_completion_id: number;
  /** How the file counts these two; null: by themselves. */
  window_begin: number | null;
  window_end: number | null;
  /** `document` or `files`. */
  form: string;
  /** The moment it was due; null for one that was asked for by hand. */
  due_at: number | null;
  created_at: number;
}
