/** Removes what was delivered longer ago than a company keeps it, in steps so small that nobody waits for one. */
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../lib/clock.ts";
import type { Store } from "../store/database/database.ts";
import {
  pruneCompletions,
  pruneExportDeliveries,
  pruneMessages,
  type Pruned,
  type PruneStep,
} from "./prune-steps.ts";
import type { Transaction } from "../store/database/group-commit.ts";

export interface PruneDeps {
  readonly store: Pick<Store, "write">;
  readonly clock: Clock;
}

export interface Keeping {
  readonly companyId: number;
  /** Days from the delivery. */
  readonly keepDays: number;
}

const dayMs = 24 * 60 * 60_000;
const stepSize = 100;

type Prune = (tx: Transaction, step: PruneStep) => Promise<Pruned>;

/** How many deliveries and completions of the company were removed. Rejects when aborted; what is done so far stays done. */
export async function pruneDelivered(
  { store, clock }: PruneDeps,
  { companyId, keepDays }: Keeping,
  signal: AbortSignal,
): Promise<{ readonly deliveries: number; readonly completions: number }> {
  const before = clock.now() - keepDays * dayMs;
  const removed = { deliveries: 0, completions: 0 };
  const goThrough = async (prune: Prune) => {
    let afterId: number | undefined = 0;
    while (afterId !== undefined) {
      signal.throwIfAborted();
      const step: PruneStep = { companyId, before, afterId, limit: stepSize };
      const pruned: Pruned = await store.write(companyId, (tx) => prune(tx, step));
      removed.deliveries += pruned.deliveries;
      removed.completions += pruned.completions;
      afterId = pruned.lastId;
      await setImmediate();
    }
  };
  // Exports first: what they were delivered with may go then.
  await goThrough(pruneExportDeliveries);
  await goThrough(pruneCompletions);
  await goThrough(pruneMessages);
  return removed;
}
