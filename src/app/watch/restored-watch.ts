/**
 * Reports that an older database was restored, until the ledger was verified; and keeps the count by which that is
 * recognised.
 */
import { isoTime } from "../../lib/iso-time.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { Store } from "../../store/database/database.ts";
import {
  advanceGeneration,
  beginGeneration,
  findRestored,
  type Restored,
} from "../../store/database/generation.ts";
import { type Rounds, startRounds } from "../../lib/rounds.ts";

/**
 * One commit and one small file each time. A stop counts as well: only a copy that was made so short a time before a crash, and
 * is restored after it, has the count of the database that it replaces, and goes unnoticed.
 */
const advanceEveryMs = 30_000;

export interface RestoredWatchDeps {
  readonly store: Pick<Store, "read" | "write" | "isOnServer">;
  readonly stateDir: string;
  readonly log: Logger;
}

/** The text for readiness, `check` and the log. */
export function restoredText({ upTo }: Restored): string {
  const since = upTo === undefined ? "the backup" : isoTime(upTo);
  return (
    `an older database was restored, which knows nothing since ${since}: run \`dropgate ledger verify\`, which lists the ` +
    "files that it does not know, and have the hosts send again what they sent since"
  );
}

/** Rejects as long as a restored database was not verified. */
export async function checkRestored(read: Store["read"]): Promise<void> {
  const restored = await findRestored(read);
  if (restored !== undefined) throw new Error(restoredText(restored));
}

/** Checks once, before anything is written, and increments from then on. */
export async function startRestoredWatch(deps: RestoredWatchDeps): Promise<Pick<Rounds, "stop">> {
  const { store, stateDir, log } = deps;
  await beginGeneration(store, stateDir);
  const restored = await findRestored(store.read);
  if (restored !== undefined) log.error(restoredText(restored));
  const advance = async () => {
    try {
      const noticed = await advanceGeneration(store, stateDir);
      if (noticed !== undefined) log.error(restoredText(noticed));
    } catch (error) {
      log.error({ err: error }, "the generation of the database could not be incremented");
    }
  };
  const rounds = startRounds(advance, { everyMs: advanceEveryMs });
  return { stop: () => rounds.stop().then(advance) };
}
