/** Keeps over a restart when a file of each company was last applied: a company that has fallen silent must show. */
import { loggingFirstFailure } from "../../lib/logs/first-failure.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { Store } from "../../store/database/database.ts";
import {
  laterOf,
  type LastApplied,
  noteLastApplied,
  readLastApplied,
} from "../../store/ledger/last-applied.ts";
import { startRounds } from "../../lib/rounds.ts";

/** A crash loses so much: the metric then shows an earlier file. */
const usualEveryMs = 30_000;

export interface AppliedWatchDeps {
  readonly store: Pick<Store, "read" | "write">;
  /** Since the start of the process. */
  readonly lastAppliedAt: () => LastApplied;
  readonly log: Logger;
  /** 30 seconds unless given. */
  readonly everyMs?: number;
}

export interface AppliedWatch {
  /** Over all runs and all nodes, as far as they have noted it, milliseconds UTC, by the id of the company. */
  lastAppliedAt(): LastApplied;
  stop(): Promise<void>;
}

/** Watches from now on. */
export function startAppliedWatch(deps: AppliedWatchDeps): AppliedWatch {
  const { store, log, everyMs = usualEveryMs } = deps;
  const tryTo = loggingFirstFailure(log, "the times of the last applied files cannot be kept; retrying");
  let kept: LastApplied = new Map();
  const current = () => laterOf(kept, deps.lastAppliedAt());
  const keep = () =>
    tryTo(async () => {
      // Each time: a company may be another node's by now, which notes its files.
      const known = await readLastApplied(store.read);
      kept = known;
      const next = current();
      if ([...next].every(([companyId, at]) => known.get(companyId) === at)) return;
      kept = await noteLastApplied(store, next);
    });
  const rounds = startRounds(keep, { everyMs });
  void rounds.run();
  return {
    lastAppliedAt: current,
    stop: () => rounds.stop().then(keep),
  };
}
