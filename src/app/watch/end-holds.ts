/** Ends holds of appointments whose time is over, in steps so small that they block nobody. */
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../lib/clock.ts";
import { expireHolds } from "../../operations/consequences/slot-accounting.ts";
import { listCompanies } from "../../store/accounts/companies.ts";
import { hasDueHolds } from "../../store/appointments/appointments.ts";
import type { Store } from "../../store/database/database.ts";

interface EndHoldsDeps {
  readonly store: Pick<Store, "read" | "write">;
  readonly clock: Clock;
  /** Whether this node does the work of the company. Default: it does that of all. */
  readonly isOurs?: (companyId: number) => boolean;
}

const holdsAtOnce = 100;

/** Marks the holds of the companies of this node whose time is over, so that there is less to read. Rejects when aborted. */
export async function endHolds(
  { store, clock, isOurs = () => true }: EndHoldsDeps,
  signal: AbortSignal,
): Promise<void> {
  for (const { id: companyId } of await listCompanies(store.read)) {
    if (!isOurs(companyId)) continue;
    const due = { companyId, now: clock.now(), limit: holdsAtOnce };
    while (await hasDueHolds(store.read, due)) {
      signal.throwIfAborted();
      await store.write(companyId, (tx) => expireHolds(tx, due));
      await setImmediate();
    }
  }
}
