/**
 * What is done now and then: old unfinished uploads are swept, free pages of the database given back, and, at most once an
 * hour, contents of the document store that belong to no document are removed.
 */
import type { Config } from "../config/schema.ts";
import type { FolderExchange } from "../exchange/file-exchange.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/log.ts";
import type { Store } from "../store/database.ts";

const intervalMs = 15 * 60_000;
const documentsIntervalMs = 60 * 60_000;
const pagesAtOnce = 2_000;

export interface HousekeepingDependencies {
  readonly exchange: Pick<FolderExchange, "sweepPartials">;
  readonly store: Pick<Store, "vacuum">;
  /** Gives how many contents were removed; rejects when aborted. */
  readonly sweepDocuments: (signal: AbortSignal) => Promise<number>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly config: () => Config;
}

interface Rounds {
  /** Undefined until the first sweep. */
  documentsSweptAt: number | undefined;
  readonly signal: AbortSignal;
}

async function tidyDocuments(deps: HousekeepingDependencies, rounds: Rounds): Promise<void> {
  const now = deps.clock.now();
  const { documentsSweptAt: last } = rounds;
  if (last !== undefined && now - last < documentsIntervalMs) return;
  rounds.documentsSweptAt = now;
  const removed = await deps.sweepDocuments(rounds.signal);
  if (removed > 0) deps.log.info({ removed }, "contents of documents that belong to nothing were removed");
}

async function tidy(deps: HousekeepingDependencies, rounds: Rounds): Promise<void> {
  try {
    await deps.exchange.sweepPartials({
      olderThanMs: deps.config().inbound.partialKeepMs,
      nowMs: deps.clock.now(),
    });
    deps.store.vacuum(pagesAtOnce);
    await tidyDocuments(deps, rounds);
  } catch (error) {
    if (rounds.signal.aborted) return; // It is being stopped, and nothing is left half done.
    deps.log.error({ err: error }, "housekeeping failed; it is tried again later");
  }
}

/** Starts with a first round, so that leftovers of the last run are seen to. */
export function startHousekeeping(deps: HousekeepingDependencies): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const rounds: Rounds = { documentsSweptAt: undefined, signal: stopping.signal };
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
