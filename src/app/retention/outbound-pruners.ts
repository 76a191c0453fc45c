/** Deliveries that are over, with what was delivered. */
import { setImmediate } from "node:timers/promises";
import type { DeliveryKind } from "../../domain/outbound/delivery-state.ts";
import {
  listOldSubjects,
  type OldOfCompany,
  pruneDelivered,
  pruneSentMessages,
} from "../../outbound/prune-deliveries.ts";
import { countDeliveries } from "../../store/outbound/delivery-retention.ts";
import { companiesWithDeliveries } from "../../store/ledger/record-retention.ts";
import { type DueCompany, eachConcerned, type Progress, type PruneDeps, type Pruner } from "./pruner.ts";

const subjectsAtOnce = 100;

async function countSubjects(
  { store }: PruneDeps,
  { id: companyId, before, kind }: DueCompany & { readonly kind: DeliveryKind },
  { signal, tally }: Progress,
): Promise<void> {
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

interface Subjects {
  readonly kind: Pruner["kind"];
  readonly of: readonly DeliveryKind[];
  readonly prune: (store: PruneDeps["store"], old: OldOfCompany, signal: AbortSignal) => Promise<unknown>;
}

function pruneSubjects({ kind, of, prune }: Subjects): Pruner {
  return {
    kind,
    wouldGo: (deps, due, progress) =>
      eachConcerned(
        { store: deps.store, concerned: companiesWithDeliveries },
        { due, progress },
        async (company) => {
          for (const one of of) await countSubjects(deps, { ...company, kind: one }, progress);
        },
      ),
    prune: (deps, due, progress) =>
      eachConcerned(
        { store: deps.store, concerned: companiesWithDeliveries },
        { due, progress },
        async ({ id: companyId, before }) => {
          const told = (count: number) => progress.tally.add(companyId, { count, bytes: 0 });
          await prune(deps.store, { companyId, before, told }, progress.signal);
        },
      ),
  };
}

/** Counts deliveries. A completion that a later export has still to report stays without them. */
export const outboundPruner = pruneSubjects({
  kind: "outbound",
  of: ["export", "completion"],
  prune: pruneDelivered,
});

export const messagesPruner = pruneSubjects({ kind: "messages", of: ["message"], prune: pruneSentMessages });
