import type { Config } from "../../config/schema.ts";
import type { SealedNumbers } from "../../lib/sealed-numbers.ts";
import type { Reader } from "../../store/database/database.ts";

/** What a query of the console reads: it changes nothing, and runs in a thread of its own. */
export interface QueryContext {
  /** The last commit, by a connection that cannot write. */
  readonly read: Reader;
  /** Absolute. */
  readonly stateDir: string;
  /** As it is in force, without its secrets. */
  readonly config: Config;
  /** Milliseconds UTC. */
  readonly now: number;
  /** References of ledger entries, as receipts show them. */
  readonly ledgerNumbers: SealedNumbers;
  /** How many milliseconds the answer is still waited for: what is searched step by step ends before, with what it has. */
  timeLeftMs(): number;
}
