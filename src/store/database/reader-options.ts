/** A connection that reads beside the store, of either dialect. */
import type { Kysely } from "kysely";
import type { Tables } from "./schema.ts";

export interface OpenReader {
  readonly read: Kysely<Tables>;
  close(): Promise<void>;
}

export interface ReaderOptions {
  /** A server ends what takes longer, in milliseconds; the SQLite file is read until the end. */
  readonly statementMs?: number;
}
