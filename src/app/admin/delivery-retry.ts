/** Retries of deliveries that an administrator requests. */
import { systemClock } from "../../lib/clock.ts";
import { hastenAll, type RepeatOutcome, retryDelivery } from "../../operations/deliveries/repeat-delivery.ts";
import { lastDeliveryId, listDeliveryIds, targetIdsOf } from "../../store/outbound/delivery-lists.ts";
import {
  listOutboundTargets,
  type OutboundTarget,
  saveTargetPause,
} from "../../store/outbound/outbound-targets.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { companyFilter } from "./admin.ts";
import { type AdminStore, type StateConfig, withAdminStore, writeEach } from "./admin-store.ts";
import {
  type DeliveryConfig,
  type DeliveryFilter,
  readDeliveryFilter,
  readTarget,
} from "./delivery-filter.ts";
import {
  type DeliveryView,
  deliveryReport,
  type RepeatReport,
  type RepeatView,
  toRepeatView,
  wouldRepeatEach,
} from "./delivery-view.ts";
import {
  inBatches,
  itemsAtOnce,
  pagesOfShown,
  type SelectionMode,
  type SelectionReport,
} from "./in-batches.ts";
import { findRunningDaemons, type RunningDaemons } from "./running-daemons.ts";

function whyNotRetried(outcome: Extract<RepeatOutcome, { kind: "refused" }>): string {
  const { state } = outcome.delivery;
  if (state === "delivered" && outcome.isMessage) return "it was delivered: a message is not sent twice";
  if (state === "delivered") return "it was delivered: `dropgate delivery resend` sends it again";
  return state === "dropped"
    ? "it was dropped: only dead ones are tried again, and those that were given up"
    : `it is ${state}: it is tried without being asked for`;
}

function wouldRetry(store: AdminStore, ids: readonly number[]): Promise<readonly RepeatView[]> {
  return wouldRepeatEach(store, ids, { action: "retry", whyNot: whyNotRetried });
}

async function retryAll(store: AdminStore, ids: readonly number[]): Promise<readonly RepeatView[]> {
  return await writeEach(store, ids, async (tx, id) =>
    toRepeatView(id, await retryDelivery(tx, { id, now: systemClock.now() }), whyNotRetried),
  );
}

interface TargetChoice {
  readonly target?: string;
  readonly companyId?: number;
}

async function chooseTargets(store: AdminStore, { target, companyId }: TargetChoice) {
  return (await listOutboundTargets(store.read)).filter(
    (one) => one.name === target && (companyId === undefined || companyId === one.companyId),
  );
}

/**
 * Whoever retries has repaired the target: it is tried at once, and pauses again if that fails. Returns whether one of
 * them paused.
 */
export async function endPausesIn(
  tx: Transaction,
  targets: readonly OutboundTarget[],
  now: number,
): Promise<boolean> {
  const paused = targets.filter(({ pausedUntil }) => pausedUntil > now);
  // Not 0: a running daemon keeps the pause in memory, and takes this moment as its end.
  for (const { id, failures } of paused) await saveTargetPause(tx, { id, failures, pausedUntil: now });
  return paused.length > 0;
}

async function endPauses(store: AdminStore, targets: readonly OutboundTarget[]): Promise<boolean> {
  const now = systemClock.now();
  if (!targets.some(({ pausedUntil }) => pausedUntil > now)) return false;
  const [isEnded = false] = await writeEach(store, [targets], (tx, all) => endPausesIn(tx, all, now));
  return isEnded;
}

/** Has what waits for its next attempt tried now. Gives how many these are. */
async function endWaits(store: AdminStore, targets: readonly OutboundTarget[]): Promise<number> {
  const counts = await writeEach(store, targets, (tx, { id }) =>
    hastenAll(tx, { targetId: id, now: systemClock.now() }),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

async function endPausesOf(store: AdminStore, repeats: readonly RepeatView[]): Promise<void> {
  const ids = repeats.flatMap(({ id, isQueued }) => (isQueued ? [id] : []));
  const concerned = new Set(await targetIdsOf(store.read, ids));
  await endPauses(
    store,
    (await listOutboundTargets(store.read)).filter(({ id }) => concerned.has(id)),
  );
}

/** Asks for dead deliveries again, and for waiting ones at once, by their numbers; a running daemon takes them up within a second. */
export async function retryDeliveries(config: StateConfig, ids: readonly number[]): Promise<RepeatReport> {
  return await withAdminStore(config, async (store) => {
    const repeats = await retryAll(store, [...new Set(ids)]);
    await endPausesOf(store, repeats);
    return { repeats, ...(await findRunningDaemons(config, store)) };
  });
}

/** What would become of these, without doing it. */
export async function tryRetries(config: StateConfig, ids: readonly number[]): Promise<RepeatReport> {
  return await withAdminStore(config, async (store) => ({
    repeats: await wouldRetry(store, [...new Set(ids)]),
    ...(await findRunningDaemons(config, store)),
  }));
}

/**
 * Asks for all deliveries again that the filter selects, dead ones unless it names a state, and ends the pauses of their
 * targets; with `isDryRun` it only finds out which they would be. One that dies again meanwhile is not asked for twice.
 */
export async function retrySelectedDeliveries(
  config: DeliveryConfig,
  filter: DeliveryFilter,
  { isDryRun, shown, limit }: SelectionMode & { readonly limit: number },
): Promise<SelectionReport<DeliveryView>> {
  return await withAdminStore(config, async (store) => {
    const selection = { state: "dead" as const, ...(await readDeliveryFilter(store, config, filter)) };
    const upToId = await lastDeliveryId(store.read);
    const repeats: RepeatView[] = [];
    await inBatches(
      pagesOfShown(shown, (afterId) =>
        listDeliveryIds(store.read, selection, { afterId, upToId, limit: itemsAtOnce }),
      ),
      async (ids) => {
        const some = isDryRun ? await wouldRetry(store, ids) : await retryAll(store, ids);
        repeats.push(...some);
        if (!isDryRun) await endPausesOf(store, some);
      },
      { rests: !isDryRun },
    );
    return await deliveryReport(store, { repeats, limit, ...(await findRunningDaemons(config, store)) });
  });
}

export interface TargetRetry extends RunningDaemons {
  /** Dead ones. */
  readonly queued: number;
  readonly wasPaused: boolean;
  /** Those that waited for their next attempt. */
  readonly hastened: number;
}

/** Asks for all dead deliveries of a target again, in their order, and ends its pause and the waits of the others. */
export async function retryTarget(
  config: StateConfig,
  options: { readonly target: string; readonly company?: string },
): Promise<TargetRetry> {
  return await withAdminStore(config, async (store) => {
    const choice = {
      ...(await companyFilter(store, options.company)),
      ...(await readTarget(store, options.target)),
    };
    const dead = { ...choice, state: "dead" as const };
    const upToId = await lastDeliveryId(store.read);
    let queued = 0;
    await inBatches(
      (afterId) => listDeliveryIds(store.read, dead, { afterId, upToId, limit: itemsAtOnce }),
      async (ids) => {
        queued += (await retryAll(store, ids)).filter(({ isQueued }) => isQueued).length;
      },
    );
    const targets = await chooseTargets(store, choice);
    const hastened = await endWaits(store, targets);
    const wasPaused = await endPauses(store, targets);
    return { queued, wasPaused, hastened, ...(await findRunningDaemons(config, store)) };
  });
}
