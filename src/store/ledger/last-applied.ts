/**
 * When a file of each company was last applied. The ledger has the times, but no index by which the last of a company is
 * found quickly; so the daemon notes them now and then.
 */
import type { Reader, Store } from "../database/database.ts";
import { readNote, writeMeta } from "../database/meta.ts";

/** Milliseconds UTC, by the id of the company. */
export type LastApplied = ReadonlyMap<number, number>;

/** What any node has noted so far. */
export async function readLastApplied(read: Reader): Promise<LastApplied> {
  return new Map(await readNote<[number, number][]>(read, "last_applied"));
}

/** The later time of each company. */
export function laterOf(one: LastApplied, other: LastApplied): LastApplied {
  const later = new Map(one);
  for (const [companyId, at] of other) later.set(companyId, Math.max(at, later.get(companyId) ?? at));
  return later;
}

/** Keeps the later time of each company, since other nodes note theirs; gives what is noted now. */
export async function noteLastApplied(
  store: Pick<Store, "write">,
  lastApplied: LastApplied,
): Promise<LastApplied> {
  return await store.write("unowned", async (tx) => {
    const noted = laterOf(await readLastApplied(tx), lastApplied);
    await writeMeta(tx, "last_applied", JSON.stringify([...noted]));
    return noted;
  });
}
