/** The two sides of a copy of a state: the database that is read, and the one that is made. */

/** What a column holds, by its declared type. */
export type ColumnKind = "integer" | "text" | "real";

export interface CopiedColumn {
  readonly name: string;
  readonly kind: ColumnKind;
}

export interface CopiedTable {
  readonly name: string;
  readonly columns: readonly CopiedColumn[];
  /** The columns by which rows are ordered, and told apart. */
  readonly key: readonly string[];
}

/** A table as one database has it; of PostgreSQL no key is asked. */
export interface FoundTable {
  readonly name: string;
  readonly columns: readonly CopiedColumn[];
  readonly key: readonly string[];
}

/**
 * The values of a row in the order of its columns, each in one form in both databases: whole numbers in decimal, real ones as
 * JavaScript writes them.
 */
export type CopiedRow = readonly (string | null)[];

/** What a database keeps beside its rows. */
export interface Counters {
  /** The last id that a table has given, by its name; without those that have given none. */
  readonly lastIds: ReadonlyMap<string, string>;
  /** How many ids of the ledger have no entry. */
  readonly ledgerGaps: string;
}

export interface CopySide {
  tables(): Promise<readonly FoundTable[]>;
  /** All rows in the order of the key, some at a time. */
  rows(table: CopiedTable): AsyncIterable<readonly CopiedRow[]>;
  counters(): Promise<Counters>;
  /** Undoes what is not complete. */
  close(): Promise<void>;
}

export interface CopySource extends CopySide {
  readonly instanceId: string;
  /** Rejects when somebody has begun to use the database. */
  requireUnused(): Promise<void>;
}

export interface CopyTarget extends CopySide {
  /** Takes the rows of one table after another. */
  write(table: CopiedTable, batches: AsyncIterable<readonly CopiedRow[]>): Promise<void>;
  /** All rows are there. Brings indexes and references back. */
  settle(counters: Counters): Promise<void>;
  /** Makes a state of it, durably. */
  complete(): Promise<void>;
}
