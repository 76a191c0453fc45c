/** The rows of remotes: the files taken from them, and their state. */
import type { Generated } from "kysely";

export interface RemoteFilesTable {
  company_id: number;
  remote: string;
  name: string;
  size: number;
  modified: string;
  sha256: string;
  state: string;
  after_file_id: number;
  noted_at: number;
}

/** The state of a remote: written by its poller, but for `asked_at`, which commands write. */
export interface RemoteStatesTable {
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
}
