/** The tables by which files are counted and found, as Kysely sees them. */
import type { FileState } from "../../domain/files/file-state.ts";

export interface CountTables {
  /** How many files were decided how, by the day of their arrival; those whose entries were removed count too. */
  daily_files: {
    company_id: number;
    /** UTC, counted from 1970-01-01. */
    day: number;
    state: FileState;
    channel: string;
    files: number;
  };
  /** Which files have a fault of a code; those that are decided and not applied. */
  file_faults: {
    company_id: number;
    code: string;
    received_at: number;
    file_id: number;
  };
  /** Files of each minute of a day, and of each hour of some weeks. */
  file_rates: {
    company_id: number;
    /** 1 or 60. */
    step_minutes: number;
    /** When the minute or hour began. */
    at: number;
    applied: number;
    refused: number;
    others: number;
    /** `class:count` for each class of the time to the receipt (`domain/files/delay-counts.ts`). */
    delays: string;
  };
}
