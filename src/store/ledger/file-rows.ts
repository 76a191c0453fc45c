/** The ledger and what belongs to its entries, as Kysely sees them. Times are milliseconds UTC. */
import type { Generated } from "kysely";
import type { FileState } from "../../domain/files/file-state.ts";

export interface FileTables {
  files: {
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
    state: FileState;
    stop_function: string | null;
    stop_nbr: string | null;
    document_id: string | null;
    /** JSON array of faults. */
    reasons: string;
    records_created: number;
    records_updated: number;
    records_deleted: number;
    decided_at: number | null;
    /** Where the bytes were when the file was taken: relative to the state directory, absolute outside of it. */
    source: string;
    /** Where the bytes are, or, while `is_filed` is 0 and the state is decided, where they are being moved to. */
    location: string;
    /** 0 while the move to `archive/` or `error/` and the receipt are still to be done. */
    is_filed: number;
    first_id: number | null;
    /** When its bytes were removed, by a user or because of its age. */
    removed_at: number | null;
    removed_by: string | null;
    /** The age in days for which its bytes were removed; null when they were not. */
    pruned_days: number | null;
    /** Where they were moved to. */
    pruned_to: string | null;
    /** 1 from the decision to remove the bytes until they are gone for sure. */
    is_pruning: Generated<number>;
    /** When the upload began that brought it; null where the way in does not tell. */
    began_at: number | null;
    /** When it was entered here; null in rows from before such moments were kept, which have none of them. */
    entered_at: number | null;
    /** When its document had been read for the decision; null when that could not be read. */
    parsed_at: number | null;
    /** When the move and the receipt of the decision were done. */
    filed_at: number | null;
    /** When somebody had first read its receipt to the end, or deleted it; who, and over which protocol. */
    receipt_collected_at: number | null;
    receipt_collected_by: string | null;
    receipt_collected_over: "sftp" | "ftp" | null;
    /** 1: nobody had read it to the end before it was deleted. */
    receipt_unread: Generated<number>;
  };
  /** The stops of a file with several, but for the first, which stands in `files`. */
  file_stops: {
    company_id: number;
    stop_nbr: string;
    file_id: number;
  };
  /** The decision about a file before somebody requested its retry. */
  file_repeats: {
    id: Generated<number>;
    file_id: number;
    asked_at: number;
    state: FileState;
    decided_at: number | null;
    /** JSON array of faults. */
    reasons: string;
    /** When the receipt of that decision was first read or deleted, and by whom. */
    receipt_collected_at: number | null;
    receipt_collected_by: string | null;
  };
}
