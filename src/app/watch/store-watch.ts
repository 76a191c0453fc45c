/**
 * Watches the store: damage that a statement meets, or that a check of the whole database finds (soon after the start
 * and then some times a day), is logged once with its remedy, and keeps `/readyz` at 503 until the next start. Files
 * whose rows are damaged are held meanwhile, and all others go on.
 */
import { messageOf } from "../../lib/errors.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { storeRemedies } from "../../lib/store-error.ts";
import type { StatePlace } from "../../store/database/state-place.ts";
import type { Store } from "../../store/database/database.ts";
import { lookAtIntegrity } from "../../store/database/integrity-look.ts";
import { type Rounds, startRounds } from "../../lib/rounds.ts";
import { hourMs } from "../../lib/durations.ts";

const usualFirstAfterMs = 10_000;
const intervalMs = 6 * hourMs;

export interface StoreWatchDeps extends StatePlace {
  readonly store: Pick<Store, "condition">;
  readonly log: Logger;
  /** Until the first check; 10 seconds unless given. */
  readonly firstAfterMs?: number;
}

/** Watches from now on. A server is not read through: its statements meet damage, and pg_amcheck looks for it. */
export function startStoreWatch(deps: StoreWatchDeps): Rounds {
  const { store, stateDir, url, log, firstAfterMs = usualFirstAfterMs } = deps;
  store.condition.onDamage((message) => {
    log.error({ message, remedy: storeRemedies.damaged }, "the database is damaged");
  });

  if (url !== undefined) return { run: async () => undefined, stop: async () => undefined };

  async function check(signal: AbortSignal): Promise<void> {
    try {
      const outcome = await lookAtIntegrity(stateDir, signal);
      if ("failure" in outcome)
        log.error({ message: outcome.failure }, "the database cannot be checked for damage");
      else if (outcome.problems.length === 0) log.debug("the database was checked and is sound");
      else store.condition.noteDamage(outcome.problems.join("; "));
    } catch (error) {
      if (!signal.aborted)
        log.error({ message: messageOf(error) }, "the database cannot be checked for damage");
    }
  }

  return startRounds(check, { everyMs: intervalMs, firstAfterMs });
}
