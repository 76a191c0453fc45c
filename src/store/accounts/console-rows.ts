/** The tables of the console: its sessions, and the audit. */
import type { Generated } from "kysely";

export interface ConsoleTables {
  console_sessions: {
    /** SHA-256 of the id that the browser holds, hexadecimal. */
    id_hash: string;
    user_id: number;
    /** Digest of what the session rests on: password, roles and whether the user may sign in. */
    basis: string;
    created_at: number;
    /** At most a minute old while the session is used. */
    seen_at: number;
    address: string;
    /** What the browser says of itself, cut short. */
    agent: string;
  };
  /** Who did or looked at what. */
  audit: {
    id: Generated<number>;
    at: number;
    /** Null for what the program did by itself. */
    user_id: number | null;
    /** As it was at that time. */
    user_name: string | null;
    /** Null for what belongs to no company or to all. */
    company_id: number | null;
    kind: string;
    /** What it was about: the name of a file, a target, a user. */
    subject: string | null;
    reason: string | null;
    /** JSON: what was there before and after. */
    before: string | null;
    after: string | null;
    address: string | null;
  };
}
