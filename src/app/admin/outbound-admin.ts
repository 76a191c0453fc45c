/** Deliveries, as the commands of an administrator list and retry them. */
import type { Config } from "../../config/schema.ts";
import { systemClock } from "../../lib/clock.ts";
import { isoOrNull, isoTime } from "../../lib/iso-time.ts";
import { hastenAll, type RepeatOutcome, retryDelivery } from "../../operations/deliveries/repeat-delivery.ts";
import {
  type DeliverySelection,
  type DeliveryWithAttempts,
  findDelivery,
  listDeadIds,
  listDeliveries as readDeliveries,
  type ListedDelivery,
} from "../../store/outbound/delivery-queries.ts";
import { type DeliveryState, deliveryStates, isDeliveryState } from "../../domain/outbound/delivery-state.ts";
import { listOutboundTargets, saveTargetPause } from "../../store/outbound/outbound-targets.ts";
import { findProcessLockHolder } from "../../store/database/process-lock-holder.ts";
import { chooseCompany } from "./admin.ts";
import { type RepeatView, toRepeatView } from "./repeat-view.ts";
import { type AdminStore, withAdminStore } from "./admin-store.ts";
import { WrongUseError } from "./wrong-use-error.ts";

type StateConfig = Pick<Config, "stateDir">;

/** A delivery as commands show it; times are ISO, UTC. */
export interface DeliveryView {
  readonly id: number;
  /** The id that the receiver knows. */
  readonly guid: string;
  readonly company: string;
  readonly target: string;
  /** False when the target is not in the configuration any more: then it waits. */
  readonly isTargetConfigured: boolean;
  /** Until when nothing is tried on the target, because the target is at fault. */
  readonly targetPausedUntil: string | null;
  readonly kind: string;
  readonly stopNbr: string | null;
  readonly export: string | null;
  /** File, or folder of single files. */
  readonly name: string;
  readonly state: DeliveryState;
  readonly dueAt: string;
  readonly attempts: number;
  readonly firstAttemptAt: string | null;
  readonly lastAttemptAt: string | null;
  readonly deliveredAt: string | null;
  readonly fault: string | null;
  readonly message: string | null;
  readonly sha256: string | null;
  readonly size: number | null;
  /** When, and by whom, the file was fetched from the company's outbound/, and removed there. */
  readonly collectedAt: string | null;
  readonly collectedBy: string | null;
  readonly removedAt: string | null;
  readonly removedBy: string | null;
  readonly createdAt: string;
}

export interface AttemptView {
  readonly at: string;
  readonly durationMs: number;
  readonly fault: string;
  readonly message: string;
}

/** What a delivery was when somebody retried it, repeated it or gave it up; times are ISO, UTC. */
export interface RepeatedView {
  readonly askedAt: string;
  readonly action: "again" | "giveUp";
  /** Who, and why: of what was given up. */
  readonly askedBy: string | null;
  readonly reason: string | null;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly lastAttemptAt: string | null;
  readonly deliveredAt: string | null;
  readonly fault: string | null;
  readonly sha256: string | null;
  readonly collectedAt: string | null;
  readonly collectedBy: string | null;
  readonly removedAt: string | null;
  readonly removedBy: string | null;
}

export interface DeliveryDetail extends DeliveryView {
  /** What it was at each retry, repetition and give-up, the oldest first. */
  readonly repeats: readonly RepeatedView[];
  /** Those that failed, the oldest first. */
  readonly failedAttempts: readonly AttemptView[];
  /** The delivery that has to be done before this one. */
  readonly behind: { readonly id: number; readonly name: string; readonly dueAt: string } | null;
}

/** The delivery as commands show it. */
export function toDeliveryView(row: ListedDelivery, now: number): DeliveryView {
  const isExport = row.kind === "export";
  return {
    id: row.id,
    guid: row.guid,
    company: row.company,
    target: row.target,
    isTargetConfigured: row.isTargetConfigured,
    targetPausedUntil: row.targetPausedUntil > now ? isoTime(row.targetPausedUntil) : null,
    kind: row.kind,
    stopNbr: isExport ? null : row.orderKey,
    export: isExport ? row.orderKey : null,
    name: row.name,
    state: row.state,
    dueAt: isoTime(row.dueAt),
    attempts: row.attempts,
    firstAttemptAt: isoOrNull(row.firstAttemptAt),
    lastAttemptAt: isoOrNull(row.lastAttemptAt),
    deliveredAt: isoOrNull(row.deliveredAt),
    fault: row.fault,
    message: row.faultText,
    sha256: row.sha256,
    size: row.size,
    collectedAt: isoOrNull(row.collectedAt),
    collectedBy: row.collectedBy,
    removedAt: isoOrNull(row.removedAt),
    removedBy: row.removedBy,
    createdAt: isoTime(row.createdAt),
  };
}

function toDetail(found: DeliveryWithAttempts, now: number): DeliveryDetail {
  const { behind, failedAttempts, repeats } = found;
  return {
    ...toDeliveryView(found, now),
    repeats: repeats.map((repeat) => ({
      ...repeat,
      askedAt: isoTime(repeat.askedAt),
      lastAttemptAt: isoOrNull(repeat.lastAttemptAt),
      deliveredAt: isoOrNull(repeat.deliveredAt),
      collectedAt: isoOrNull(repeat.collectedAt),
      removedAt: isoOrNull(repeat.removedAt),
    })),
    failedAttempts: failedAttempts.map(({ at, durationMs, fault, faultText }) => ({
      ...{ at: isoTime(at), durationMs, fault, message: faultText },
    })),
    behind: behind === null ? null : { ...behind, dueAt: isoTime(behind.dueAt) },
  };
}

export interface DeliveryListOptions {
  readonly state?: string;
  readonly companyCode?: string;
  readonly target?: string;
  readonly stopNbr?: string;
  readonly limit: number;
}

function readState(state: string | undefined): { readonly state?: DeliveryState } {
  if (state === undefined) return {};
  if (isDeliveryState(state)) return { state };
  throw new WrongUseError(
    `${JSON.stringify(state)} is not a state of a delivery: use one of ${deliveryStates.join(", ")}`,
  );
}

export async function readCompany(
  store: AdminStore,
  code: string | undefined,
): Promise<{ readonly companyId?: number }> {
  const company = code === undefined ? undefined : await chooseCompany(store, code);
  return company === undefined ? {} : { companyId: company.id };
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

export interface DeliveryList {
  /** The newest first. */
  readonly deliveries: readonly DeliveryView[];
  /** Whether there are more than the limit lets through. */
  readonly isCut: boolean;
}

/** Deliveries of all companies, or those that the filter selects. */
export async function listDeliveries(
  config: StateConfig,
  options: DeliveryListOptions,
): Promise<DeliveryList> {
  const state = readState(options.state);
  return await withAdminStore(config.stateDir, { mayCreate: false }, async (store) => {
    const { companyCode, target, stopNbr, limit } = options;
    const selection: DeliverySelection = {
      ...state,
      ...(await readCompany(store, companyCode)),
      ...(await readTarget(store, target)),
      ...(stopNbr === undefined ? {} : { stopNbr }),
      limit: limit + 1,
    };
    const rows = await readDeliveries(store.read, selection);
    const now = systemClock.now();
    return {
      deliveries: rows.slice(0, limit).map((row) => toDeliveryView(row, now)),
      isCut: rows.length > limit,
    };
  });
}

/** One delivery by its number, or by the GUID that the receiver knows; undefined when there is none. */
export async function showDelivery(
  config: StateConfig,
  key: number | string,
): Promise<DeliveryDetail | undefined> {
  return await withAdminStore(config.stateDir, { mayCreate: false }, async (store) => {
    const found = await findDelivery(store.read, key);
    return found === undefined ? undefined : toDetail(found, systemClock.now());
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
  return await store.write("site", async (tx) => {
    const views = [];
    for (const id of ids)
      views.push(toRepeatView(id, await retryDelivery(tx, { id, now: systemClock.now() }), whyNotRetried));
    return views;
  });
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
  await store.write("site", async (tx) => {
    // Not 0: a running daemon keeps the pause in memory, and takes this moment as its end.
    for (const { id, failures } of paused) await saveTargetPause(tx, { id, failures, pausedUntil: now });
  });
  return true;
}

/** Has what waits for its next attempt tried now. Gives how many these are. */
async function endWaits(store: AdminStore, selection: Partial<DeliverySelection>): Promise<number> {
  const chosen = await chooseTargets(store, selection);
  return await store.write("site", async (tx) => {
    let hastened = 0;
    for (const { id } of chosen) hastened += await hastenAll(tx, { targetId: id, now: systemClock.now() });
    return hastened;
  });
}

async function endPausesOf(store: AdminStore, ids: readonly number[]): Promise<void> {
  for (const id of ids) {
    const found = await findDelivery(store.read, id);
    const target = (await listOutboundTargets(store.read)).find(
      ({ companyCode, name }) => companyCode === found?.company && name === found.target,
    );
    if (target !== undefined) await endPauses(store, { target: target.name, companyId: target.companyId });
  }
}

export interface RetryReport {
  readonly retries: readonly RepeatView[];
  readonly daemonPid: number | undefined;
}

/** Asks for dead deliveries again, and for waiting ones at once, by their numbers; a running daemon takes them up within a second. */
export async function retryDeliveries(config: StateConfig, ids: readonly number[]): Promise<RetryReport> {
  return await withAdminStore(config.stateDir, { mayCreate: false }, async (store) => {
    const retries = await retryAll(store, [...new Set(ids)]);
    await endPausesOf(
      store,
      retries.filter(({ isQueued }) => isQueued).map(({ id }) => id),
    );
    return { retries, daemonPid: findProcessLockHolder(config.stateDir) };
  });
}

const retriesAtOnce = 500;

export interface TargetRetry {
  /** Dead ones. */
  readonly queued: number;
  /** Whether the target was left alone until now. */
  readonly wasPaused: boolean;
  /** Those that waited for their next attempt. */
  readonly hastened: number;
  readonly daemonPid: number | undefined;
}

/** Asks for all dead deliveries of a target again, in their order, and ends its pause and the waits of the others. */
export async function retryTarget(
  config: StateConfig,
  options: { readonly target: string; readonly companyCode?: string },
): Promise<TargetRetry> {
  return await withAdminStore(config.stateDir, { mayCreate: false }, async (store) => {
    const selection = {
      ...(await readCompany(store, options.companyCode)),
      ...(await readTarget(store, options.target)),
    };
    let queued = 0;
    let afterId = 0;
    for (;;) {
      const ids = await listDeadIds(store.read, { ...selection, afterId, limit: retriesAtOnce });
      queued += (await retryAll(store, ids)).filter(({ isQueued }) => isQueued).length;
      const last = ids.at(-1);
      if (last === undefined) break;
      afterId = last;
    }
    const hastened = await endWaits(store, selection);
    const wasPaused = await endPauses(store, selection);
    return { queued, wasPaused, hastened, daemonPid: findProcessLockHolder(config.stateDir) };
  });
}
