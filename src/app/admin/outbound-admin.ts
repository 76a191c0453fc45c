/** Deliveries, as the commands of an administrator list and retry them. */
import { systemClock } from "../../lib/clock.ts";
import { given } from "../../lib/given.ts";
import { hastenAll, type RepeatOutcome, retryDelivery } from "../../operations/deliveries/repeat-delivery.ts";
import {
  type DeliverySelection,
  findDelivery,
  listDeadIds,
  listDeliveries as readDeliveries,
} from "../../store/outbound/delivery-queries.ts";
import { type DeliveryState, deliveryStates, isDeliveryState } from "../../domain/outbound/delivery-state.ts";
import { listOutboundTargets, saveTargetPause } from "../../store/outbound/outbound-targets.ts";
import { findProcessLockHolder } from "../../store/database/process-lock.ts";
import { companyFilter } from "./admin.ts";
import {
  type AdminStore,
  type CutList,
  cutAt,
  type StateConfig,
  withAdminStore,
  writeEach,
} from "./admin-store.ts";
import {
  type DeliveryDetail,
  type DeliveryView,
  type RepeatReport,
  type RepeatView,
  toDeliveryDetail,
  toDeliveryView,
  toRepeatView,
} from "./delivery-view.ts";
import { WrongUseError } from "./wrong-use-error.ts";

/** The options of the command. */
export interface DeliveryListOptions {
  readonly state?: string;
  readonly company?: string;
  readonly target?: string;
  /** Its number. */
  readonly stop?: string;
  readonly limit: number;
}

function readState(state: string | undefined): DeliveryState | undefined {
  if (state === undefined || isDeliveryState(state)) return state;
  throw new WrongUseError(
    `${JSON.stringify(state)} is not a state of a delivery: use one of ${deliveryStates.join(", ")}`,
  );
}

/** Without this check a mistyped target would look like one that nothing is sent to. */
export async function readTarget(
  { read }: AdminStore,
  target: string | undefined,
): Promise<{ readonly target?: string }> {
  if (target === undefined) return {};
  const names = [...new Set((await listOutboundTargets(read)).map(({ name }) => name))];
  if (names.includes(target)) return { target };
  const known = names.length === 0 ? "none yet" : names.join(", ");
  throw new WrongUseError(`there is no target ${target}; there is ${known}`);
}

/** Deliveries of all companies, or those that the filter selects. */
export async function listDeliveries(
  config: StateConfig,
  options: DeliveryListOptions,
): Promise<CutList<DeliveryView>> {
  const state = readState(options.state);
  return await withAdminStore(config, async (store) => {
    const { company, target, stop: stopNbr, limit } = options;
    const selection: DeliverySelection = {
      ...given({ state, stopNbr }),
      ...(await companyFilter(store, company)),
      ...(await readTarget(store, target)),
      limit: limit + 1,
    };
    const rows = await readDeliveries(store.read, selection);
    const now = systemClock.now();
    return cutAt(limit, rows, (row) => toDeliveryView(row, now));
  });
}

/** One delivery by its number, or by the GUID that the receiver knows; undefined when there is none. */
export async function showDelivery(
  config: StateConfig,
  key: number | string,
): Promise<DeliveryDetail | undefined> {
  return await withAdminStore(config, async (store) => {
    const found = await findDelivery(store.read, key);
    return found === undefined ? undefined : toDeliveryDetail(found, systemClock.now());
  });
}

function whyNotRetried(outcome: Extract<RepeatOutcome, { kind: "refused" }>): string {
  const { state } = outcome.delivery;
  if (state === "delivered" && outcome.isMessage) return "it was delivered: a message is not sent twice";
  if (state === "delivered") return "it was delivered: `dropgate delivery resend` sends it again";
  return state === "dropped"
    ? "it was dropped: only dead ones are tried again, and those that were given up"
    : `it is ${state}: it is tried without being asked for`;
}

async function retryAll(store: AdminStore, ids: readonly number[]): Promise<readonly RepeatView[]> {
  return await writeEach(store, ids, async (tx, id) =>
    toRepeatView(id, await retryDelivery(tx, { id, now: systemClock.now() }), whyNotRetried),
  );
}

async function chooseTargets(store: AdminStore, { target, companyId }: Partial<DeliverySelection>) {
  return (await listOutboundTargets(store.read)).filter(
    (one) => one.name === target && (companyId === undefined || companyId === one.companyId),
  );
}

/**
 * Whoever retries has repaired the target: it is tried at once, and pauses again if that fails. Returns whether it
 * paused.
 */
async function endPauses(store: AdminStore, selection: Partial<DeliverySelection>): Promise<boolean> {
  const now = systemClock.now();
  const paused = (await chooseTargets(store, selection)).filter(({ pausedUntil }) => pausedUntil > now);
  if (paused.length === 0) return false;
  // Not 0: a running daemon keeps the pause in memory, and takes this moment as its end.
  await writeEach(store, paused, (tx, { id, failures }) =>
    saveTargetPause(tx, { id, failures, pausedUntil: now }),
  );
  return true;
}

/** Has what waits for its next attempt tried now. Gives how many these are. */
async function endWaits(store: AdminStore, selection: Partial<DeliverySelection>): Promise<number> {
  const counts = await writeEach(store, await chooseTargets(store, selection), (tx, { id }) =>
    hastenAll(tx, { targetId: id, now: systemClock.now() }),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

async function endPausesOf(store: AdminStore, retried: readonly RepeatView[]): Promise<void> {
  for (const { id } of retried) {
    const found = await findDelivery(store.read, id);
    const target = (await listOutboundTargets(store.read)).find(
      ({ companyCode, name }) => companyCode === found?.company && name === found.target,
    );
    if (target !== undefined) await endPauses(store, { target: target.name, companyId: target.companyId });
  }
}

/** Asks for dead deliveries again, and for waiting ones at once, by their numbers; a running daemon takes them up within a second. */
export async function retryDeliveries(config: StateConfig, ids: readonly number[]): Promise<RepeatReport> {
  return await withAdminStore(config, async (store) => {
    const repeats = await retryAll(store, [...new Set(ids)]);
    const queued = repeats.filter(({ isQueued }) => isQueued);
    await endPausesOf(store, queued);
    return { repeats, daemonPid: findProcessLockHolder(config.stateDir) };
  });
}

const retriesAtOnce = 500;

export interface TargetRetry {
  /** Dead ones. */
  readonly queued: number;
  readonly wasPaused: boolean;
  /** Those that waited for their next attempt. */
  readonly hastened: number;
  readonly daemonPid: number | undefined;
}

/** Asks for all dead deliveries of a target again, in their order, and ends its pause and the waits of the others. */
export async function retryTarget(
  config: StateConfig,
  options: { readonly target: string; readonly company?: string },
): Promise<TargetRetry> {
  return await withAdminStore(config, async (store) => {
    const selection = {
      ...(await companyFilter(store, options.company)),
      ...(await readTarget(store, options.target)),
    };
    let queued = 0;
    for (let afterId: number | undefined = 0; afterId !== undefined; ) {
      const ids = await listDeadIds(store.read, { ...selection, afterId, limit: retriesAtOnce });
      queued += (await retryAll(store, ids)).filter(({ isQueued }) => isQueued).length;
      afterId = ids.at(-1);
    }
    const hastened = await endWaits(store, selection);
    const wasPaused = await endPauses(store, selection);
    return { queued, wasPaused, hastened, daemonPid: findProcessLockHolder(config.stateDir) };
  });
}
