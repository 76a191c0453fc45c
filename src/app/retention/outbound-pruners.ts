/** Deliveries that are over, with what was delivered. */
import { setImmediate } from "node:timers/promises";
import type { DeliveryKind } from "../../domain/outbound/delivery-state.ts";
import { listOldSubjects, pruneDelivered, pruneSentMessages } from "../../outbound/prune-deliveries.ts";
import { countDeliveries } from "../../store/outbound/delivery-retention.ts";
import { companiesWithDeliveries } from "../../store/ledger/record-retention.ts";
import { type Amounts, type DueCompany, type PruneDeps, type Pruner, Tally } from "./pruner.ts";

const subjectsAtOnce = 100;

async function countSubjects(
  { store }: PruneDeps,
  { due, kinds }: { readonly due: readonly DueCompany[]; readonly kinds: readonly DeliveryKind[] },
  signal: AbortSignal,
): Promise<Amounts> {
  const tally = new Tally();
  const concerned = await companiesWithDeliveries(store.read);
  for (const { id: companyId, before } of due.filter(({ id }) => concerned.has(id))) {
    for (const kind of kinds) {
      let afterId: number | undefined = 0;
      while (afterId !== undefined) {
        signal.throwIfAborted();
        const step = { companyId, before, afterId, limit: subjectsAtOnce };
        const old = await listOldSubjects(store.read, kind, step);
        for (const { id, createdAt: at } of old.subjects) {
          const count = await countDeliveries(store.read, kind, [id]);
          tally.add(companyId, { count, bytes: 0, oldestAt: at, newestAt: at });
        }
        afterId = old.lastId;
        await setImmediate();
      }
    }
  }
  return tally.amounts;
}

async function pruneEach(
  { store }: PruneDeps,
  due: readonly DueCompany[],
  prune: (old: { readonly companyId: number; readonly before: number }) => Promise<number>,
): Promise<Amounts> {
  const tally = new Tally();
  const concerned = await companiesWithDeliveries(store.read);
  for (const { id: companyId, before } of due.filter(({ id }) => concerned.has(id)))
    tally.add(companyId, { count: await prune({ companyId, before }), bytes: 0 });
  return tally.amounts;
}

/** Counts deliveries. A completion that a later export has still to report stays without them. */
export const outboundPruner: Pruner = {
  kind: "outbound",
  wouldGo: (deps, due, signal) => countSubjects(deps, { due, kinds: ["export", "completion"] }, signal),
  prune: (deps, due, signal) =>
    pruneEach(deps, due, async (old) => (await pruneDelivered(deps.store, old, signal)).deliveries),
};

export const messagesPruner: Pruner = {
  kind: "messages",
  wouldGo: (deps, due, signal) => countSubjects(deps, { due, kinds: ["message"] }, signal),
  prune: (deps, due, signal) => pruneEach(deps, due, (old) => pruneSentMessages(deps.store, old, signal)),
};
