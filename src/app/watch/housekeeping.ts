/**
 * Periodic clean-up: old unfinished uploads are swept, free pages of the database returned, holds ended, and, at most
 * once an hour, unreferenced contents of documents, old deliveries and old records removed.
 */
import type { Config } from "../../config/schema.ts";
import type { FolderExchange } from "../../exchange/file-exchange.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { Store } from "../../store/database/database.ts";
import type { RemovedRecords } from "./prune-records.ts";
import { type Rounds, startRounds } from "./rounds.ts";

const intervalMs = 15 * 60_000;
const hourlyMs = 60 * 60_000;
const pagesAtOnce = 2_000;

export interface HousekeepingDependencies {
  readonly exchange: Pick<FolderExchange, "sweepPartials">;
  readonly store: Pick<Store, "vacuum">;
  /** Returns how many contents were removed; rejects when aborted. */
  readonly sweepDocuments: (signal: AbortSignal) => Promise<number>;
  /** Returns how many deliveries were removed; rejects when aborted. */
  readonly pruneOutbound: (signal: AbortSignal) => Promise<number>;
  /** Ends holds of appointments whose time is over; rejects when aborted. */
  readonly endHolds: (signal: AbortSignal) => Promise<void>;
  /** Returns how many records of each kind were removed; rejects when aborted. */
  readonly pruneRecords: (signal: AbortSignal) => Promise<RemovedRecords>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly config: () => Config;
}

async function removeOld(deps: HousekeepingDependencies, signal: AbortSignal): Promise<void> {
  const pruned = await deps.pruneOutbound(signal);
  if (pruned > 0) deps.log.info({ deliveries: pruned }, "old deliveries removed");
  const records = await deps.pruneRecords(signal);
  if (records.appointments + records.imports + records.loads > 0)
    deps.log.info(
      { ...records },
      "old records removed: appointments that were given back, outcomes of imports, positions of loads",
    );
  const removed = await deps.sweepDocuments(signal);
  if (removed > 0) deps.log.info({ removed }, "unreferenced contents of documents removed");
}

/** Starts with a first round, which removes the leftovers of the last run. */
export function startHousekeeping(deps: HousekeepingDependencies): Rounds {
  const { exchange, store, clock, config, log } = deps;
  let removedAt = Number.NEGATIVE_INFINITY;
  const tidy = async (signal: AbortSignal) => {
    try {
      await exchange.sweepPartials({ olderThanMs: config().inbound.partialKeepMs, nowMs: clock.now() });
      store.vacuum(pagesAtOnce);
      await deps.endHolds(signal);
      if (clock.now() - removedAt < hourlyMs) return;
      removedAt = clock.now();
      await removeOld(deps, signal);
    } catch (error) {
      if (signal.aborted) return; // It is being stopped; nothing is left half done.
      log.error({ err: error }, "housekeeping failed; retrying later");
    }
  };
  const rounds = startRounds(tidy, { everyMs: intervalMs });
  void rounds.run();
  return rounds;
}
