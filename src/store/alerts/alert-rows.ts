/** The tables of incidents and of what was told of them, as Kysely sees them. */
import type { Generated } from "kysely";

export interface AlertTables {
  /** One row for each incident (`domain/alerts/incident.ts`). Of one company, kind and cause at most one is open. */
  incidents: {
    id: Generated<number>;
    /** 0: of the whole installation. */
    company_id: number;
    kind: string;
    cause: string;
    opened_at: number;
    seen_at: number;
    closed_at: number | null;
    reopened: Generated<number>;
    count: number;
    level: number;
    summary: string;
    remedy: string;
    /** JSON array of texts. */
    samples: string;
  };
  /** What an audience was told of an incident last. */
  incident_reports: {
    incident_id: number;
    /** The company, or 0 for the operator. */
    audience_id: number;
    state: "open" | "worse" | "closed";
    level: number;
    reported_at: number;
  };
  /** Which receivers of an audience were told of an incident: a row for each, of the last notice of it. */
  incident_receivers: {
    incident_id: number;
    audience_id: number;
    /** As in `deliveries.order_key`. */
    receiver: string;
    /** Of a web service: tells its URL from another. Null for an address, and where it was not noted yet. */
    url_hash: string | null;
    notice_id: number;
  };
  /** One notice to an audience. Its deliveries, one for each address and service, are in `deliveries`. */
  alert_notices: {
    id: Generated<number>;
    /** The audience: a company, or 0 for the operator. */
    company_id: number;
    subject: string;
    text: string;
    /** JSON: what web services get. */
    body: string;
    created_at: number;
    /** 1: somebody has tried how alerts are told. */
    is_test: Generated<number>;
  };
}
