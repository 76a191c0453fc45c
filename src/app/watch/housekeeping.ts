/**
 * Periodic clean-up: holds are ended, free pages of the database returned, and what is too old is removed: unfinished uploads
 * each quarter of an hour, and, at most once an hour, unreferenced contents of documents and what retention keeps no longer.
 * While the clock is not to be trusted, nothing is removed by its age.
 */
import { setImmediate } from "node:timers/promises";
import type { Config } from "../../config/schema.ts";
import type { FolderExchange } from "../../exchange/file-exchange.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { Store } from "../../store/database/database.ts";
import type { Retention } from "../retention/retention.ts";
import { type Rounds, startRounds } from "../../lib/rounds.ts";
import { hourMs, minuteMs } from "../../lib/durations.ts";

const intervalMs = 15 * minuteMs;
const pagesOfRound = 2_000;
/** A tenth of a millisecond each in a database of 5 GB: other work comes in between. */
const pagesAtOnce = 100;

export interface HousekeepingDependencies {
  readonly exchange: Pick<FolderExchange, "sweepPartials">;
  readonly store: Pick<Store, "vacuum">;
  /** Returns how many contents were removed; rejects when aborted. */
  readonly sweepDocuments: (now: number, signal: AbortSignal) => Promise<number>;
  /** Ends holds of appointments whose time is over; rejects when aborted. */
  readonly endHolds: (signal: AbortSignal) => Promise<void>;
  readonly retention: Pick<Retention, "look" | "prune">;
  /** Removes what is kept of alerts no longer; rejects when aborted. */
  readonly pruneAlerts: (now: number, signal: AbortSignal) => Promise<void>;
  readonly log: Logger;
  readonly config: () => Config;
  /** Whether this node does what concerns no company: contents of documents. Default: it does. */
  readonly isOurs?: () => boolean;
}

/** Starts with a first round, which removes the leftovers of the last run. */
export function startHousekeeping(deps: HousekeepingDependencies): Rounds {
  const { exchange, store, retention, config, log, isOurs = () => true } = deps;
  let removedAt = Number.NEGATIVE_INFINITY;
  const removeOld = async (signal: AbortSignal) => {
    const now = await retention.look();
    if (now === undefined) return;
    await exchange.sweepPartials({ olderThanMs: config().inbound.partialKeepMs, nowMs: now });
    // Also when the clock was set back since then.
    if (Math.abs(now - removedAt) < hourMs) return;
    const isDone = await retention.prune(now, signal);
    await deps.pruneAlerts(now, signal);
    const removed = isOurs() ? await deps.sweepDocuments(now, signal) : 0;
    if (removed > 0) log.info({ removed }, "unreferenced contents of documents removed");
    // Otherwise the next round goes on.
    if (isDone) removedAt = now;
  };
  const vacuum = async (signal: AbortSignal) => {
    for (let pages = 0; pages < pagesOfRound && store.vacuum(pagesAtOnce); pages += pagesAtOnce) {
      await setImmediate();
      signal.throwIfAborted();
    }
  };
  const tidy = async (signal: AbortSignal) => {
    try {
      await vacuum(signal);
      await deps.endHolds(signal);
      await removeOld(signal);
    } catch (error) {
      if (signal.aborted) return; // It is being stopped; nothing is left half done.
      log.error({ err: error }, "housekeeping failed; retrying later");
    }
  };
  const rounds = startRounds(tidy, { everyMs: intervalMs });
  void rounds.run();
  return rounds;
}
