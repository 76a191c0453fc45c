/** Small facts about the state itself. */
import { newSealingKey } from "../../lib/sealed-numbers.ts";
import type { Reader, Store } from "./database.ts";
import type { Transaction } from "./groups/group-commit.ts";

export type MetaKey =
  | "alive_at"
  | "backup_state"
  | "boot_id"
  | "deliveries_held"
  | "events_pruned"
  | "generation"
  | "last_applied"
  | "last_backup"
  | "number_key"
  | "prune_clock"
  | "resends"
  | "restored"
  | "verified";

/** The text of a fact; undefined when there is none. */
export async function readMeta(read: Reader, key: MetaKey): Promise<string | undefined> {
  const row = await read.selectFrom("meta").select("value").where("key", "=", key).executeTakeFirst();
  return row?.value;
}

/** A note that was written as JSON; undefined when there is none. */
export async function readNote<Note>(read: Reader, key: MetaKey): Promise<Note | undefined> {
  const text = await readMeta(read, key);
  return text === undefined ? undefined : (JSON.parse(text) as Note);
}

/** Does nothing where there is no such fact. */
export async function forgetMeta(tx: Transaction, key: MetaKey): Promise<void> {
  await tx.deleteFrom("meta").where("key", "=", key).execute();
}

/** In the place of the text before, if any. */
export async function writeMeta(tx: Transaction, key: MetaKey, value: string): Promise<void> {
  await tx
    .insertInto("meta")
    .values({ key, value })
    .onConflict((conflict) => conflict.column("key").doUpdateSet({ value }))
    .execute();
}

/** The key that seals the numbers of rows for hosts (`sealed-numbers.ts`); made when there is none, by one of several nodes. */
export async function sealingKeyOf(store: Pick<Store, "read" | "write">): Promise<string> {
  const known = await readMeta(store.read, "number_key");
  if (known !== undefined) return known;
  const made = newSealingKey();
  return await store.write("unowned", async (tx) => {
    const before = await readMeta(tx, "number_key");
    if (before !== undefined) return before;
    await writeMeta(tx, "number_key", made);
    return made;
  });
}

/** The same for commands that write nothing: undefined where no daemon has run yet. */
export async function findSealingKey(read: Reader): Promise<string | undefined> {
  return await readMeta(read, "number_key");
}

/** Writes that the daemon is alive, durably, and reads it back: proof that the store works both ways. */
export async function noteAlive(store: Pick<Store, "read" | "write">, now: number): Promise<void> {
  await store.write("unowned", (tx) => writeMeta(tx, "alive_at", String(now)));
  if ((await readMeta(store.read, "alive_at")) === undefined)
    throw new Error("the value that was written cannot be read back");
}

/** The state of the last run: in which boot of the machine it ran, and when it was last known to be alive. */
export async function readLastRun(
  read: Reader,
): Promise<{ readonly bootId: string | undefined; readonly aliveAt: number | undefined }> {
  const aliveAt = await readMeta(read, "alive_at");
  return {
    bootId: await readMeta(read, "boot_id"),
    aliveAt: aliveAt === undefined ? undefined : Number(aliveAt),
  };
}

/** Notes in which boot of the machine the daemon runs. */
export async function noteBoot(store: Pick<Store, "write">, bootId: string, now: number): Promise<void> {
  await store.write("unowned", async (tx) => {
    await writeMeta(tx, "boot_id", bootId);
    await writeMeta(tx, "alive_at", String(now));
  });
}
