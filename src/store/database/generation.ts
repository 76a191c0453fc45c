/**
 * Whether the database is the newest that was here, or an older one that somebody has restored over it.
 *
 * A number counts up in the database, and after that in a file beside it: at the start, twice a minute, and at the stop.
 * A crash in between leaves the file behind, never ahead. So a file that is ahead has seen a newer database. The database
 * then has the note `restored`, until somebody verifies the ledger against the files.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeFileDurably } from "../../lib/files/durable-file.ts";
import { unlessMissing } from "../../lib/errors.ts";
import type { Reader, Store } from "./database.ts";
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

async function readFileGeneration(stateDir: string): Promise<number> {
  return numberIn(await readFile(join(stateDir, generationFileName), "utf8").catch(unlessMissing));
}

/** Daemons alone count. A file that is written late is behind, and never ahead. */
async function countUp(
  { write }: Pick<Store, "read" | "write">,
  stateDir: string,
  ahead: Restored | undefined,
): Promise<void> {
  const inFile = await readFileGeneration(stateDir);
  // Read within: another node counts too, and the number in the database must never go back.
  const next = await write("unowned", async (tx) => {
    const counted = Math.max(numberIn(await readMeta(tx, generationKey)), inFile) + 1;
    await writeMeta(tx, generationKey, String(counted));
    if (ahead !== undefined) await writeMeta(tx, restoredKey, JSON.stringify(ahead));
    return counted;
  });
  await writeFileDurably(join(stateDir, generationFileName), `${next}\n`);
}

/** Counts up while the daemon runs, and at its stop. */
export async function advanceGeneration(
  store: Pick<Store, "read" | "write">,
  stateDir: string,
): Promise<void> {
  await countUp(store, stateDir, undefined);
}

/** At the start, before `alive_at` is rewritten. */
export async function beginGeneration(store: Pick<Store, "read" | "write">, stateDir: string): Promise<void> {
  await countUp(store, stateDir, await findUnnoticed(store.read, stateDir));
}

/** The database is older than the file beside it says, and no start has noticed. */
async function findUnnoticed(read: Reader, stateDir: string): Promise<Restored | undefined> {
  const known = numberIn(await readMeta(read, generationKey));
  if ((await readFileGeneration(stateDir)) <= known) return undefined;
  const aliveAt = await readMeta(read, "alive_at");
  return aliveAt === undefined ? {} : { upTo: Number(aliveAt) };
}

/** The note `restored` of a start that noticed an older database, until the ledger is verified. */
export function findRestored(read: Reader): Promise<Restored | undefined> {
  return readNote(read, restoredKey);
}

/** The same, also before a start. */
export async function lookForRestored(read: Reader, stateDir: string): Promise<Restored | undefined> {
  return (await findRestored(read)) ?? (await findUnnoticed(read, stateDir));
}

/** The ledger was verified against the files: what is missing is known. */
export async function noteVerified({ read, write }: Pick<Store, "read" | "write">): Promise<void> {
  if ((await readMeta(read, restoredKey)) !== undefined)
    await write("unowned", (tx) => forgetMeta(tx, restoredKey));
}
