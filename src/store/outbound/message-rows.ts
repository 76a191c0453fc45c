/** The rows of customer messages. */
import type { Generated } from "kysely";

/**
 * One message to one address, with its values as they were when its event was recorded. Its delivery is in
 * `deliveries`.
 */
export interface MessagesTable {
  id: Generated<number>;
  company_id: number;
  stop_nbr: string;
  /** Code of the recorded event; 0 when the planned arrival has moved. */
  event_code: number;
  /** `email` or `sms`. */
  channel: string;
  /** As the host sent it. */
  address: string;
  /** JSON: the values of the placeholders. */
  facts: string;
  created_at: number;
}

/** Which messages the configuration asks for: a copy, for the transactions of state changes. */
export interface MessagePlansTable {
  company_id: number;
  /** JSON. */
  plan: string;
}

/** The planned arrival that was last announced to a customer, or that was the first to be known. */
export interface MessageEtasTable {
  company_id: number;
  stop_nbr: string;
  load_id: number;
  eta_at: number;
}

/** Addresses that want no messages. */
export interface MessageOptOutsTable {
  company_id: number;
  /** Addresses with the same key are the same. */
  address_key: string;
  created_at: number;
}

export interface MessageTables {
  messages: MessagesTable;
  message_plans: MessagePlansTable;
  message_etas: MessageEtasTable;
  message_opt_outs: MessageOptOutsTable;
}
