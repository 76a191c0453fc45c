/**
 * When a file of each company was last applied. The ledger has the times, but no index by which the last of a company is
 * found quickly; so the daemon notes them now and then.
 */
import type { Reader, Store } from "../database/database.ts";
import { readNote, writeMeta } from "../database/meta.ts";

/** Milliseconds UTC, by the id of the company. */
export type LastApplied = ReadonlyMap<number, number>;

export async function readLastApplied(read: Reader): Promise<LastApplied> {
  return new Map(await readNote<[number, number][]>(read, "last_applied"));
}

export async function noteLastApplied(store: Pick<Store, "write">, lastApplied: LastApplied): Promise<void> {
  await store.write("unowned", (tx) => writeMeta(tx, "last_applied", JSON.stringify([...lastApplied])));
}
