/** What is done now and then: old unfinished uploads are swept, free pages of the database given back. */
import type { Config } from "../config/schema.ts";
import type { FolderExchange } from "../exchange/file-exchange.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/log.ts";
import type { Store } from "../store/database.ts";

const intervalMs = 15 * 60_000;
const pagesAtOnce = 2_000;

export interface HousekeepingDependencies {
  readonly exchange: Pick<FolderExchange, "sweepPartials">;
  readonly store: Pick<Store, "vacuum">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly config: () => Config;
}

async function tidy(deps: HousekeepingDependencies): Promise<void> {
  try {
    await deps.exchange.sweepPartials({
      olderThanMs: deps.config().inbound.partialKeepMs,
      nowMs: deps.clock.now(),
    });
    deps.store.vacuum(pagesAtOnce);
  } catch (error) {
    deps.log.error({ err: error }, "housekeeping failed; it is tried again later");
  }
}

/** Starts with a first round, so that leftovers of the last run are seen to. */
export function startHousekeeping(deps: HousekeepingDependencies): { stop(): Promise<void> } {
  let running = tidy(deps);
  const timer = setInterval(() => {
    running = running.then(() => tidy(deps));
  }, intervalMs);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
