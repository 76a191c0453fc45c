/** What the last verification of the ledger found, by the daemon or by a command. */
import type { Reader, Store } from "./database.ts";
import { readNote, writeMeta } from "./meta.ts";

export interface LastVerification {
  /** When it ended, milliseconds UTC. */
  readonly at: number;
  readonly discrepancies: number;
}

/** Undefined before the first. */
export function findLastVerification(read: Reader): Promise<LastVerification | undefined> {
  return readNote(read, "verified");
}

/** In the place of the one before, in a unit of its own. */
export async function noteLastVerification(
  store: Pick<Store, "write">,
  verification: LastVerification,
): Promise<void> {
  await store.write("unowned", (tx) => writeMeta(tx, "verified", JSON.stringify(verification)));
}
