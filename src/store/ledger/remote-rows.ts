/** The rows of remotes: what was taken from them, and how they stand. */
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

/** How a remote stands: written by its poller, but for `asked_at`, which commands write. */
export interface RemoteStatesTable {
  company_id: number;
  remote: string;
  /** When the last round ended, and the last one without trouble. */
  polled_at: number | null;
  succeeded_at: number | null;
  /** Rounds in a row that have failed. */
  failures: Generated<number>;
  paused_until: Generated<number>;
  fault: string | null;
  fault_text: string | null;
  /** When somebody last asked for a round at once; 0 when nobody has. */
  asked_at: Generated<number>;
}
