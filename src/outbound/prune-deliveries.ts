/**
 * Removes what was delivered longer ago than a company keeps it, and the completions that nothing refers to any more, in
 * steps so small that nobody waits for one. What is open or dead stays, with its completion; so does what a later export
 * still has to report.
 */
import { setImmediate } from "node:timers/promises";
import { finalStopStatuses } from "../domain/stop/stop-status.ts";
import { removeNotices } from "../store/alerts/alert-notices.ts";
import type { Reader, Store } from "../store/database/database.ts";
import type { Transaction } from "../store/database/groups/group-commit.ts";
import type { DeliveryKind } from "../domain/outbound/delivery-state.ts";
import {
  findFirstExportStart,
  findFirstWatermark,
  findUnfinishedSince,
  listSubjects,
  removeCompletions,
  removeDeliveries,
  removeMessages,
  removeToldEtas,
  type Subject,
  type SubjectPage,
} from "../store/outbound/delivery-retention.ts";

/** `limit`: how many are read. */
export interface PruneStep extends SubjectPage {
  /** What was delivered before this is removed, milliseconds UTC. */
  readonly before: number;
}

export interface Pruned {
  /** From where to go on; undefined when there is nothing more that old. */
  readonly lastId: number | undefined;
  readonly deliveries: number;
  readonly completions: number;
}

/** The old ones in front; `isLast` when a young one follows, or none. */
function oldOnes(subjects: readonly Subject[], { before, limit }: PruneStep) {
  const young = subjects.findIndex(({ createdAt }) => createdAt >= before);
  const old = young === -1 ? subjects : subjects.slice(0, young);
  const isLast = young !== -1 || subjects.length < limit;
  return { old, lastId: isLast ? undefined : old.at(-1)?.id };
}

/** The old subjects of a step that no delivery needs any more, and from where to go on. */
export async function listOldSubjects(read: Reader | Transaction, kind: DeliveryKind, step: PruneStep) {
  const { old, lastId } = oldOnes(await listSubjects(read, kind, step), step);
  const ids = old.map(({ id }) => id);
  const since = step.before;
  const needed = ids.length === 0 ? new Set() : await findUnfinishedSince(read, ids, { kind, since });
  return { lastId, subjects: old.filter(({ id }) => !needed.has(id)) };
}

/**
 * The old subjects of a step that no delivery needs any more; removes their deliveries. A message that was dropped has no
 * time of its own: its subject is old, and nobody can ask for it again. What was given up is kept from then on, for who
 * asks what became of it.
 */
async function pruneSubjects(tx: Transaction, kind: DeliveryKind, step: PruneStep) {
  const { lastId, subjects } = await listOldSubjects(tx, kind, step);
  const gone = subjects.map(({ id }) => id);
  const deliveries = gone.length === 0 ? 0 : await removeDeliveries(tx, kind, gone);
  return { lastId, gone, deliveries };
}

/**
 * The last completion that every export of the company has reported and delivered. A schedule that is made by hand alone, or
 * is no longer in the configuration, holds nothing back.
 */
async function findLastExported(tx: Transaction, companyId: number): Promise<number> {
  const reported = await findFirstWatermark(tx, companyId);
  const delivered = await findFirstExportStart(tx, companyId);
  return Math.min(reported ?? Number.MAX_SAFE_INTEGER, delivered ?? Number.MAX_SAFE_INTEGER);
}

/** One step through the company's completions, oldest first, with their deliveries. */
export async function pruneCompletions(tx: Transaction, step: PruneStep): Promise<Pruned> {
  const { gone, ...pruned } = await pruneSubjects(tx, "completion", step);
  if (gone.length === 0) return { ...pruned, completions: 0 };
  const lastId = await findLastExported(tx, step.companyId);
  return { ...pruned, completions: await removeCompletions(tx, { ids: gone, lastId }) };
}

/** One step through the company's customer messages, oldest first: those that are over, with their deliveries. */
async function pruneMessages(tx: Transaction, step: PruneStep): Promise<Pruned> {
  const { gone, ...pruned } = await pruneSubjects(tx, "message", step);
  if (pruned.lastId === undefined) {
    await removeToldEtas(tx, { companyId: step.companyId, statuses: finalStopStatuses });
  }
  if (gone.length > 0) await removeMessages(tx, gone);
  return { ...pruned, completions: 0 };
}

/** One step through the company's exports, oldest first: their deliveries go, the exports stay with their numbers. */
export async function pruneExportDeliveries(tx: Transaction, step: PruneStep): Promise<Pruned> {
  const { lastId, deliveries } = await pruneSubjects(tx, "export", step);
  return { lastId, deliveries, completions: 0 };
}

/** What a company keeps no longer: `before`, milliseconds UTC, counts from the delivery. */
export interface OldOfCompany extends Pick<PruneStep, "companyId" | "before"> {
  /** Hears after each step how many deliveries were removed in it. */
  readonly told?: (deliveries: number) => void;
}

type PrunedCounts = Pick<Pruned, "deliveries" | "completions">;

const stepSize = 100;

async function goThrough(
  store: Pick<Store, "write">,
  {
    old: { told, ...old },
    prune,
  }: { old: OldOfCompany; prune: (tx: Transaction, step: PruneStep) => Promise<Pruned> },
  signal: AbortSignal,
): Promise<PrunedCounts> {
  const removed = { deliveries: 0, completions: 0 };
  let afterId: number | undefined = 0;
  while (afterId !== undefined) {
    signal.throwIfAborted();
    const step: PruneStep = { ...old, afterId, limit: stepSize };
    const pruned: Pruned = await store.write(old.companyId, (tx) => prune(tx, step));
    removed.deliveries += pruned.deliveries;
    told?.(pruned.deliveries);
    removed.completions += pruned.completions;
    afterId = pruned.lastId;
    await setImmediate();
  }
  return removed;
}

/** How many deliveries and completions of the company were removed. Rejects when aborted; what is done so far stays done. */
export async function pruneDelivered(
  store: Pick<Store, "write">,
  old: OldOfCompany,
  signal: AbortSignal,
): Promise<PrunedCounts> {
  // Exports first: what they were delivered with may go then.
  const exports = await goThrough(store, { old, prune: pruneExportDeliveries }, signal);
  const { deliveries, completions } = await goThrough(store, { old, prune: pruneCompletions }, signal);
  return { deliveries: exports.deliveries + deliveries, completions };
}

/** How many deliveries of messages of the company were removed, with their messages. Rejects when aborted. */
export async function pruneSentMessages(
  store: Pick<Store, "write">,
  old: OldOfCompany,
  signal: AbortSignal,
): Promise<number> {
  return (await goThrough(store, { old, prune: pruneMessages }, signal)).deliveries;
}

/** One step through the notices of alerts to an audience, oldest first, with their deliveries. */
async function pruneNotices(tx: Transaction, step: PruneStep): Promise<Pruned> {
  const { gone, ...pruned } = await pruneSubjects(tx, "alert", step);
  if (gone.length > 0) await removeNotices(tx, gone);
  return { ...pruned, completions: 0 };
}

/** How many deliveries of alerts to the audience were removed, with their notices. Rejects when aborted. */
export async function pruneSentAlerts(
  store: Pick<Store, "write">,
  old: OldOfCompany,
  signal: AbortSignal,
): Promise<number> {
  return (await goThrough(store, { old, prune: pruneNotices }, signal)).deliveries;
}
