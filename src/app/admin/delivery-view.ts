/** Deliveries, and what was asked of them, as commands show them; times are ISO, UTC. */
import { isoOrNull, isoTime } from "../../lib/iso-time.ts";
import { type RepeatOutcome, wouldRepeat } from "../../operations/deliveries/repeat-delivery.ts";
import { systemClock } from "../../lib/clock.ts";
import {
  type DeliveryWithAttempts,
  findDelivery,
  type ListedDelivery,
} from "../../store/outbound/delivery-queries.ts";
import type { AdminStore } from "./admin-store.ts";
import { byReason, type SelectionReport } from "./in-batches.ts";
import type { RunningDaemons } from "./running-daemons.ts";

export type DeliveryView = Readonly<ReturnType<typeof toDeliveryView>>;

/** The delivery in a list. */
export function toDeliveryView(row: ListedDelivery, now: number) {
  const isExport = row.kind === "export";
  return {
    id: row.id,
    /** The id that the receiver knows. */
    guid: row.guid,
    company: row.company,
    target: row.target,
    /** False when the target is not in the configuration any more: then the delivery waits. */
    isTargetConfigured: row.isTargetConfigured,
    /** Until when nothing is tried on the target, because the target is at fault. */
    targetPausedUntil: row.targetPausedUntil > now ? isoTime(row.targetPausedUntil) : null,
    /** Who has paused the target by hand, until somebody resumes it, and when. */
    targetPausedBy: row.targetPausedBy,
    targetPausedAt: isoOrNull(row.targetPausedAt),
    kind: row.kind,
    stopNbr: isExport || row.kind === "alert" ? null : row.orderKey,
    export: isExport ? row.orderKey : null,
    ...(row.kind === "alert" ? { receiver: row.orderKey } : {}),
    /** File, or folder of single files. */
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
    /** When, by whom and from which address the file was fetched from the company's outbound/, and removed there. */
    collectedAt: isoOrNull(row.collectedAt),
    collectedBy: row.collectedBy,
    collectedFrom: row.collectedFrom,
    removedAt: isoOrNull(row.removedAt),
    removedBy: row.removedBy,
    removedFrom: row.removedFrom,
    createdAt: isoTime(row.createdAt),
  };
}

export type DeliveryDetail = Readonly<ReturnType<typeof toDeliveryDetail>>;

/** The delivery with everything that is known of it. */
export function toDeliveryDetail(found: DeliveryWithAttempts, now: number) {
  const { behind, failedAttempts, repeats } = found;
  return {
    ...toDeliveryView(found, now),
    /** What it was at each retry, repetition and give-up, the oldest first. */
    repeats: repeats.map((repeat) => ({
      ...repeat,
      askedAt: isoTime(repeat.askedAt),
      lastAttemptAt: isoOrNull(repeat.lastAttemptAt),
      deliveredAt: isoOrNull(repeat.deliveredAt),
      collectedAt: isoOrNull(repeat.collectedAt),
      removedAt: isoOrNull(repeat.removedAt),
    })),
    /** The oldest first. */
    failedAttempts: failedAttempts.map(({ at, durationMs, fault, faultText }) => ({
      ...{ at: isoTime(at), durationMs, fault, message: faultText },
    })),
    /** The delivery that has to be done before this one. */
    behind: behind === null ? null : { ...behind, dueAt: isoTime(behind.dueAt) },
  };
}

/** What became of a request to retry, repeat or give up a delivery. */
export interface RepeatView {
  readonly id: number;
  /** Whether it was done. */
  readonly isQueued: boolean;
  readonly name: string | null;
  /** Why not, or a remark. */
  readonly remarks: readonly string[];
}

/** What became of several. */
export interface RepeatReport extends RunningDaemons {
  readonly repeats: readonly RepeatView[];
}

type Refused = Extract<RepeatOutcome, { kind: "refused" }>;
type Queued = Extract<RepeatOutcome, { kind: "queued" }>;

const removed =
  "it was removed `retention.outbound` days after its delivery and cannot be sent any more: the host can still read the stop over HTTP";
const never = "there is no such delivery: `dropgate deliveries` lists them";

function remarksOf({ newerDelivered, isTargetConfigured, delivery }: Queued): string[] {
  const behind = delivery.state === "behind" ? ["earlier ones of the same stop or export are before it"] : [];
  const left = isTargetConfigured ? [] : ["its target is not in the configuration: it waits until it is"];
  if (newerDelivered === null) return [...behind, ...left];
  const { id, name, deliveredAt } = newerDelivered;
  const newer = `a newer file of the same stop, ${name} (delivery ${id}), was delivered at ${isoTime(deliveredAt)}: this one comes after it, and \`dropgate delivery resend ${id}\` sends the newer one once more behind it`;
  return [...behind, ...left, newer];
}

/** Why a delivery that does not exist cannot be repeated. */
export function unknownRemark({ wasRemoved }: { readonly wasRemoved: boolean }): string {
  return wasRemoved ? removed : never;
}

/** `whyNot` says why an existing delivery cannot be repeated in this way. */
export function toRepeatView(
  id: number,
  outcome: RepeatOutcome,
  whyNot: (refused: Refused) => string,
): RepeatView {
  switch (outcome.kind) {
    case "unknown":
      return { id, isQueued: false, name: null, remarks: [unknownRemark(outcome)] };
    case "refused":
      return { id, isQueued: false, name: outcome.delivery.name, remarks: [whyNot(outcome)] };
    case "queued":
      return { id, isQueued: true, name: outcome.delivery.name, remarks: remarksOf(outcome) };
  }
}

/** What an action on deliveries would come to, as `toRepeatView` says it, without doing it: only reads. */
export async function wouldRepeatEach(
  { read }: Pick<AdminStore, "read">,
  ids: readonly number[],
  { action, whyNot }: { readonly action: "retry" | "resend"; readonly whyNot: (refused: Refused) => string },
): Promise<readonly RepeatView[]> {
  const now = systemClock.now();
  const views: RepeatView[] = [];
  for (const id of ids) views.push(toRepeatView(id, await wouldRepeat(read, { id, now, action }), whyNot));
  return views;
}

async function viewsOf({ read }: Pick<AdminStore, "read">, ids: readonly number[]): Promise<DeliveryView[]> {
  const found = await Promise.all(ids.map((id) => findDelivery(read, id)));
  const now = systemClock.now();
  return found.flatMap((one) => (one === undefined ? [] : [toDeliveryView(one, now)]));
}

/** The report of all that a filter has selected. */
export async function deliveryReport(
  store: Pick<AdminStore, "read">,
  { repeats, limit, ...daemons }: RepeatReport & { readonly limit: number },
): Promise<SelectionReport<DeliveryView>> {
  const ids = repeats.flatMap(({ id, isQueued }) => (isQueued ? [id] : []));
  const refused = repeats.flatMap(({ id, isQueued, remarks }) =>
    isQueued ? [] : [{ id, why: remarks.join("; ") }],
  );
  const [last] = await viewsOf(store, ids.slice(-1));
  const items = await viewsOf(store, ids.slice(0, limit));
  return { ids, items, last: last ?? null, notDone: byReason(refused), ...daemons };
}
