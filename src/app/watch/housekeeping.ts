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

interface Rounds {
  /** Undefined until the first sweep. */
  tidiedAt: number | undefined;
  readonly signal: AbortSignal;
}

async function tidyHourly(deps: HousekeepingDependencies, rounds: Rounds): Promise<void> {
  const now = deps.clock.now();
  const { tidiedAt: last } = rounds;
  if (last !== undefined && now - last < hourlyMs) return;
  rounds.tidiedAt = now;
  const pruned = await deps.pruneOutbound(rounds.signal);
  if (pruned > 0) deps.log.info({ deliveries: pruned }, "old deliveries removed");
  const records = await deps.pruneRecords(rounds.signal);
  if (records.appointments + records.imports + records.loads > 0)
    deps.log.info(
      { ...records },
      "old records removed: appointments that were given back, outcomes of imports, positions of loads",
    );
  const removed = await deps.sweepDocuments(rounds.signal);
  if (removed > 0) deps.log.info({ removed }, "unreferenced contents of documents removed");
}

async function tidy(deps: HousekeepingDependencies, rounds: Rounds): Promise<void> {
  try {
    await deps.exchange.sweepPartials({
      olderThanMs: deps.config().inbound.partialKeepMs,
      nowMs: deps.clock.now(),
    });
    deps.store.vacuum(pagesAtOnce);
    await deps.endHolds(rounds.signal);
    await tidyHourly(deps, rounds);
  } catch (error) {
    if (rounds.signal.aborted) return; // It is being stopped; nothing is left half done.
    deps.log.error({ err: error }, "housekeeping failed; retrying later");
  }
}

/** Starts with a first round, so that leftovers of the last run are seen to. */
export function startHousekeeping(deps: HousekeepingDependencies): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const rounds: Rounds = { tidiedAt: undefined, signal: stopping.signal };
  let running = tidy(deps, rounds);
  const timer = setInterval(() => {
    running = running.then(() => tidy(deps, rounds));
  }, intervalMs);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await running;
    },
  };
}
