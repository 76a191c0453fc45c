/** Removes incidents that were closed long ago, and the notices that told of them (`alerts.keepDays`). */
import type { Config } from "../../config/schema.ts";
import { operatorId } from "../../domain/alerts/audience.ts";
import { pruneSentAlerts } from "../../outbound/prune-deliveries.ts";
import { listCompanies } from "../../store/accounts/companies.ts";
import { removeClosedIncidents } from "../../store/alerts/incidents.ts";
import type { Store } from "../../store/database/database.ts";
import { dayMs } from "../../lib/durations.ts";

const atOnce = 500;

export interface PruneAlertsDeps {
  readonly store: Pick<Store, "read" | "write">;
  readonly config: () => Pick<Config, "alerts">;
  /** Whether this node does the work of the company. Default: it does that of all. */
  readonly isOurs?: (companyId: number) => boolean;
}

/** `now` comes from a clock that was found to be right. Rejects when aborted; what was removed by then stays removed. */
export async function pruneAlerts(
  { store, config, isOurs = () => true }: PruneAlertsDeps,
  now: number,
  signal: AbortSignal,
): Promise<void> {
  const before = now - config().alerts.keepDays * dayMs;
  const companies = await listCompanies(store.read);
  for (const companyId of [operatorId, ...companies.map(({ id }) => id)].filter(isOurs)) {
    await pruneSentAlerts(store, { companyId, before }, signal);
    const removeSome = () =>
      store.write(companyId, (tx) => removeClosedIncidents(tx, { companyId, before, limit: atOnce }));
    while ((await removeSome()) === atOnce) signal.throwIfAborted();
  }
}
