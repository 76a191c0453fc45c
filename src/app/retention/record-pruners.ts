/** Old rows: appointments that are over, outcomes of imports, positions of loads that are over. */
import { setImmediate } from "node:timers/promises";
import type { Reader, Store } from "../../store/database/database.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import {
  companiesWithRecords,
  countOldAppointments,
  countOldImports,
  listOldAppointments,
  listOldImports,
  listTrackedLoads,
  type OldCount,
  type OldRecords,
  removeAppointments,
  removeImports,
  removeWhereabouts,
  type TrackedLoads,
} from "../../store/ledger/record-retention.ts";
import type { Mark } from "../../store/ledger/file-retention.ts";
import { fromPlace, type Way } from "./places.ts";
import { type DueCompany, eachConcerned, type Progress, type PruneDeps, type Pruner } from "./pruner.ts";

const appointmentsAtOnce = 200;
/** Each has up to 500 loads. */
const importsAtOnce = 5;
const loadsAtOnce = 200;

interface Rows {
  readonly kind: Pruner["kind"];
  readonly atOnce: number;
  readonly count: (read: Reader, wanted: Omit<OldRecords, "limit">) => Promise<OldCount>;
  readonly list: (read: Reader, wanted: OldRecords) => Promise<readonly number[]>;
  readonly remove: (tx: Transaction, ids: readonly number[]) => Promise<void>;
}

/** Rows that are listed first and removed in small steps; an empty list causes no write. */
function pruneRows({ kind, atOnce, count, list, remove }: Rows): Pruner {
  const each = (
    { store }: PruneDeps,
    { due, progress }: { readonly due: readonly DueCompany[]; readonly progress: Progress },
    work: (wanted: OldRecords) => Promise<void>,
  ) =>
    eachConcerned(
      { store, concerned: companiesWithRecords },
      { due, progress },
      ({ id: companyId, before }) => work({ companyId, before, limit: atOnce }),
    );
  return {
    kind,
    wouldGo: (deps, due, progress) =>
      each(deps, { due, progress }, async (wanted) => {
        progress.tally.add(wanted.companyId, { ...(await count(deps.store.read, wanted)), bytes: 0 });
        await setImmediate();
      }),
    prune: (deps, due, progress) =>
      each(deps, { due, progress }, async (wanted) => {
        const { store } = deps;
        const { signal, tally } = progress;
        for (;;) {
          signal.throwIfAborted();
          const ids = await list(store.read, wanted);
          if (ids.length === 0) return;
          await store.write(wanted.companyId, (tx) => remove(tx, ids));
          tally.add(wanted.companyId, { count: ids.length, bytes: 0 });
          await setImmediate();
        }
      }),
  };
}

export const appointmentsPruner = pruneRows({
  kind: "appointments",
  atOnce: appointmentsAtOnce,
  count: countOldAppointments,
  list: listOldAppointments,
  remove: removeAppointments,
});

export const importsPruner = pruneRows({
  kind: "imports",
  atOnce: importsAtOnce,
  count: countOldImports,
  list: listOldImports,
  remove: removeImports,
});

/**
 * Loads of all companies in one go: which loads have positions cannot be asked by company. Begins behind the place of the way,
 * which goes along.
 */
async function eachOldLoad(
  store: Pick<Store, "read">,
  {
    due,
    signal,
    way,
  }: { readonly due: readonly DueCompany[]; readonly signal: AbortSignal; readonly way: Way },
  visit: (load: TrackedLoads["over"][number]) => Promise<void>,
): Promise<void> {
  const before = new Map(due.map((company) => [company.id, company.before]));
  for (;;) {
    signal.throwIfAborted();
    const page = { limit: loadsAtOnce, afterId: way.place?.fileId ?? 0 };
    const tracked: TrackedLoads = await listTrackedLoads(store.read, page);
    for (const load of tracked.over) {
      if (load.updatedAt >= (before.get(load.companyId) ?? 0)) continue;
      signal.throwIfAborted();
      await visit(load);
    }
    if (tracked.lastId === undefined) return;
    way.place = placeAt(tracked.lastId);
    await setImmediate();
  }
}

const placeAt = (loadId: number): Mark => ({ decidedAt: 0, fileId: loadId });

/** Counts loads, whose positions are forgotten together. A pass that was cut off goes on there in the next. */
export const positionsPruner: Pruner = {
  kind: "positions",
  async wouldGo({ store }, due, { signal, tally }) {
    const way: Way = { place: undefined };
    await eachOldLoad(store, { due, signal, way }, async ({ companyId, updatedAt: at }) => {
      tally.add(companyId, { count: 1, bytes: 0, oldestAt: at, newestAt: at });
    });
  },
  prune: ({ store, places }, due, { signal, tally }) =>
    fromPlace(places, { key: "positions", signal }, (way) =>
      eachOldLoad(store, { due, signal, way }, async ({ id, companyId }) => {
        await store.write(companyId, (tx) => removeWhereabouts(tx, id));
        tally.add(companyId, { count: 1, bytes: 0 });
      }),
    ),
};
