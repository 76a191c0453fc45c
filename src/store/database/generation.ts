/**
 * Whether the database is the newest that was here, or an older one that somebody has restored over it.
 *
 * A number counts up in the database, and after that in a file beside it: at the start, twice a minute, and at the stop.
 * A crash in between leaves the file behind, never ahead. So a file that is ahead has seen a newer database. The database
 * then has the note `restored`, until somebody verifies the ledger against the files.
 *
 * On a server, which is put back by tools of its own, deliveries are held besides; nodes that work on notice it as well, and so
 * does the first start after the file was removed: a database that was put back to a moment just before may have its count.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeFileDurably } from "../../lib/files/durable-file.ts";
import { unlessMissing } from "../../lib/errors.ts";
import { findLastReceived } from "../ledger/backup-queries.ts";
import { type DeliveryHold, deliveryHoldKey } from "../outbound/delivery-hold.ts";
import type { Reader, Store } from "./database.ts";
import type { Transaction } from "./groups/group-commit.ts";
import { forgetMeta, readMeta, readNote, type MetaKey, writeMeta } from "./meta.ts";

export const generationFileName = "dropgate.generation";

const generationKey: MetaKey = "generation";
const restoredKey: MetaKey = "restored";

export interface Restored {
  /** When the older database was last known to be in use, milliseconds UTC; missing when it never was. */
  readonly upTo?: number;
}

function numberIn(text: string | undefined): number {
  const found = Number(text?.trim() ?? 0);
  return Number.isSafeInteger(found) && found > 0 ? found : 0;
}

/** Undefined when there is no file. */
async function readFileGeneration(stateDir: string): Promise<number | undefined> {
  const text = await readFile(join(stateDir, generationFileName), "utf8").catch(unlessMissing);
  return text === undefined ? undefined : numberIn(text);
}

async function writeFileGeneration(stateDir: string, count: number): Promise<void> {
  await writeFileDurably(join(stateDir, generationFileName), `${count}\n`);
}

type CountedStore = Pick<Store, "read" | "write" | "isOnServer">;

/** What goes out since would go out again. A hold of before has begun earlier. */
async function holdDeliveries(tx: Transaction, { upTo = 0 }: Restored): Promise<void> {
  if ((await readMeta(tx, deliveryHoldKey)) !== undefined) return;
  const lastReceivedAt = (await findLastReceived(tx)) ?? null;
  const hold: DeliveryHold = { restoredAt: Date.now(), sendAgainFrom: upTo, lastReceivedAt };
  await writeMeta(tx, deliveryHoldKey, JSON.stringify(hold));
}

/** Daemons alone count. A file that is written late is behind, and never ahead. */
async function countUp(
  { write, isOnServer }: CountedStore,
  stateDir: string,
  { isStart }: { readonly isStart: boolean },
): Promise<Restored | undefined> {
  const early = await readFileGeneration(stateDir);
  // Read within: another node counts too, and the number in the database must never go back.
  const { next, restored } = await write("unowned", async (tx) => {
    const known = numberIn(await readMeta(tx, generationKey));
    const inFile = early ?? (isOnServer ? await agreeOnFile(stateDir, known) : 0);
    const isBehind = inFile === undefined ? isStart : inFile > known;
    const found = isBehind ? await restoredUpTo(tx) : undefined;
    const counted = Math.max(known, inFile ?? 0) + 1;
    await writeMeta(tx, generationKey, String(counted));
    if (found !== undefined) await writeMeta(tx, restoredKey, JSON.stringify(found));
    if (found !== undefined && isOnServer) await holdDeliveries(tx, found);
    return { next: counted, restored: found };
  });
  await writeFileGeneration(stateDir, next);
  return restored;
}

/** The first of several nodes makes the file before the database has a count, so that no other one misses it. */
async function agreeOnFile(stateDir: string, known: number): Promise<number | undefined> {
  if (known > 0) return await readFileGeneration(stateDir);
  await writeFileGeneration(stateDir, 0);
  return 0;
}

/** Counts up while the daemon runs, and at its stop; gives what it notices, which a start has not. */
export function advanceGeneration(store: CountedStore, stateDir: string): Promise<Restored | undefined> {
  return countUp(store, stateDir, { isStart: false });
}

/** At the start, before `alive_at` is rewritten. */
export async function beginGeneration(store: CountedStore, stateDir: string): Promise<void> {
  await countUp(store, stateDir, { isStart: true });
}

async function restoredUpTo(read: Reader): Promise<Restored> {
  const aliveAt = await readMeta(read, "alive_at");
  return aliveAt === undefined ? {} : { upTo: Number(aliveAt) };
}

/** The database is older than the file beside it says, and no start has noticed. */
async function findUnnoticed(
  { read, isOnServer }: Pick<Store, "read" | "isOnServer">,
  stateDir: string,
): Promise<Restored | undefined> {
  const known = numberIn(await readMeta(read, generationKey));
  const inFile = await readFileGeneration(stateDir);
  const isBehind = inFile === undefined ? isOnServer && known > 0 : inFile > known;
  return isBehind ? await restoredUpTo(read) : undefined;
}

/** The note `restored` of a start that noticed an older database, until the ledger is verified. */
export function findRestored(read: Reader): Promise<Restored | undefined> {
  return readNote(read, restoredKey);
}

/** The same, also before a start. */
export async function lookForRestored(
  store: Pick<Store, "read" | "isOnServer">,
  stateDir: string,
): Promise<Restored | undefined> {
  return (await findRestored(store.read)) ?? (await findUnnoticed(store, stateDir));
}

/** The ledger was verified against the files: what is missing is known. */
export async function noteVerified({ read, write }: Pick<Store, "read" | "write">): Promise<void> {
  if ((await readMeta(read, restoredKey)) !== undefined)
    await write("unowned", (tx) => forgetMeta(tx, restoredKey));
}
