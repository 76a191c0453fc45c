/** Ends holds whose time is over, and removes old records of a company, in steps so small that they block nobody. */
import { setImmediate } from "node:timers/promises";
import { outboundSettingsOf } from "../../config/company-settings.ts";
import type { Config } from "../../config/schema.ts";
import type { Clock } from "../../lib/clock.ts";
import { expireHolds } from "../../operations/consequences/slot-accounting.ts";
import { hasDueHolds } from "../../store/appointments/appointments.ts";
import { listCompanies } from "../../store/accounts/companies.ts";
import type { Store } from "../../store/database/database.ts";
import type { Transaction } from "../../store/database/group-commit.ts";
import {
  companiesWithRecords,
  listOldAppointments,
  listOldImports,
  listTrackedLoads,
  type OldRecords,
  removeAppointments,
  removeImports,
  removeWhereabouts,
  type TrackedLoads,
} from "../../store/ledger/record-retention.ts";

type RecordStore = Pick<Store, "read" | "write">;

export interface PruneRecordsDeps {
  readonly store: RecordStore;
  readonly clock: Clock;
  readonly config: () => Pick<Config, "companies">;
}

export interface RemovedRecords {
  readonly appointments: number;
  readonly imports: number;
  /** Loads whose former stops are forgotten. */
  readonly loads: number;
}

const dayMs = 24 * 60 * 60_000;
const holdsAtOnce = 100;
const appointmentsAtOnce = 200;
/** Each has up to 500 loads. */
const importsAtOnce = 5;
const loadsAtOnce = 200;

/** Marks the holds of all companies whose time is over, so that there is less to read. Rejects when aborted. */
export async function endHolds(
  { store, clock }: Pick<PruneRecordsDeps, "store" | "clock">,
  signal: AbortSignal,
): Promise<void> {
  for (const { id: companyId } of await listCompanies(store.read)) {
    const due = { companyId, now: clock.now(), limit: holdsAtOnce };
    while (await hasDueHolds(store.read, due)) {
      signal.throwIfAborted();
      await store.write(companyId, (tx) => expireHolds(tx, due));
      await setImmediate();
    }
  }
}

interface Removal {
  readonly list: (read: Store["read"], wanted: OldRecords) => Promise<readonly number[]>;
  readonly remove: (tx: Transaction, ids: readonly number[]) => Promise<void>;
  readonly wanted: OldRecords;
}

async function removeAll(store: RecordStore, { list, remove, wanted }: Removal, signal: AbortSignal) {
  let removed = 0;
  for (;;) {
    signal.throwIfAborted();
    const ids = await list(store.read, wanted);
    if (ids.length === 0) return removed;
    await store.write(wanted.companyId, (tx) => remove(tx, ids));
    removed += ids.length;
    await setImmediate();
  }
}

/** Of all companies in one go: which loads have positions cannot be asked by company. `before` is that of a company. */
async function forgetWhereabouts(
  store: RecordStore,
  before: ReadonlyMap<number, number>,
  signal: AbortSignal,
): Promise<number> {
  let removed = 0;
  let afterId: number | undefined = 0;
  while (afterId !== undefined) {
    signal.throwIfAborted();
    const tracked: TrackedLoads = await listTrackedLoads(store.read, { limit: loadsAtOnce, afterId });
    const old = tracked.over.filter((load) => load.updatedAt < (before.get(load.companyId) ?? 0));
    for (const { id, companyId } of old) {
      signal.throwIfAborted();
      await store.write(companyId, (tx) => removeWhereabouts(tx, id));
    }
    removed += old.length;
    afterId = tracked.lastId;
    await setImmediate();
  }
  return removed;
}

/** Removes the old records of each company. Rejects when aborted; what was removed by then stays removed. */
export async function pruneRecords(deps: PruneRecordsDeps, signal: AbortSignal): Promise<RemovedRecords> {
  const { store, clock, config } = deps;
  const removed = { appointments: 0, imports: 0, loads: 0 };
  const beforeOf = new Map<number, number>();
  const concerned = await companiesWithRecords(store.read);
  for (const { id: companyId, code } of await listCompanies(store.read)) {
    const before = clock.now() - outboundSettingsOf(config(), code).keepDays * dayMs;
    beforeOf.set(companyId, before);
    if (!concerned.has(companyId)) continue;
    const old = (limit: number) => ({ companyId, before, limit });
    const appointments = {
      list: listOldAppointments,
      remove: removeAppointments,
      wanted: old(appointmentsAtOnce),
    };
    removed.appointments += await removeAll(store, appointments, signal);
    const imports = { list: listOldImports, remove: removeImports, wanted: old(importsAtOnce) };
    removed.imports += await removeAll(store, imports, signal);
  }
  removed.loads = await forgetWhereabouts(store, beforeOf, signal);
  return removed;
}
