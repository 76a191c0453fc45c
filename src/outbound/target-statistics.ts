/** How targets are doing, for metrics and health. */
import { Histogram } from "../lib/histogram.ts";
import type { Reader } from "../store/database/database.ts";
import type { DeliveryHead } from "../store/outbound/delivery-heads.ts";
import { listOldestOpen, type OutboundTarget } from "../store/outbound/outbound-targets.ts";
import type { AttemptRecord } from "./record-attempts.ts";

/** How a target is doing; not older than a second. */
export interface TargetStatistics {
  readonly company: string;
  readonly target: string;
  readonly isConfigured: boolean;
  /** Deliveries that are waiting or behind another. */
  readonly open: number;
  readonly dead: number;
  /** Since the oldest open delivery was made; 0 when none is open. */
  readonly oldestAgeMs: number;
  readonly isPaused: boolean;
  /** Somebody has paused it, until somebody resumes it. */
  readonly isPausedByHand: boolean;
  /** Since the start of the process. */
  readonly attempts: Readonly<Record<AttemptRecord["kind"], number>>;
  /** Of what was delivered since the start: seconds from when it was due, or first tried, to its delivery. */
  readonly lags: Histogram;
}

/** Upper bounds of the time until a delivery, in seconds. */
export const lagBounds = [0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600, 21_600, 86_400];

/** Of one target, since the start. */
class AttemptFigures {
  readonly attempts = { delivered: 0, later: 0, dead: 0, nameTaken: 0, dropped: 0, postponed: 0 };
  readonly lags = new Histogram(lagBounds);
}

type DueDelivery = Pick<DeliveryHead, "dueAt" | "attempts" | "firstAttemptAt" | "createdAt">;

/** When a delivery was to be made. One that failed is due later each time; faults of the target leave no first attempt. */
function firstDueAt({ dueAt, attempts, firstAttemptAt, createdAt }: DueDelivery): number {
  return attempts === 0 ? dueAt : (firstAttemptAt ?? createdAt);
}

export class TargetCounters {
  readonly #figures = new Map<number, AttemptFigures>();
  /** When the oldest open delivery of each target was made; `of` is the list of targets that it was asked with. */
  #oldest: { readonly of: readonly OutboundTarget[]; readonly at: ReadonlyMap<number, number> } = {
    of: [],
    at: new Map(),
  };

  /** Counts the attempts of a target. */
  counterOf(id: number): (record: AttemptRecord, row: DueDelivery) => void {
    const figures = this.#figuresOf(id);
    return ({ kind, at, durationMs }, row) => {
      figures.attempts[kind] += 1;
      if (kind === "delivered") figures.lags.observe(Math.max(0, at + durationMs - firstDueAt(row)) / 1000);
    };
  }

  #figuresOf(id: number): AttemptFigures {
    const known = this.#figures.get(id);
    if (known !== undefined) return known;
    const made = new AttemptFigures();
    this.#figures.set(id, made);
    return made;
  }

  /** Reads how old the oldest deliveries are, unless the targets are the very list of the last time. */
  async readAges(read: Reader, of: readonly OutboundTarget[]): Promise<void> {
    if (this.#oldest.of !== of) this.#oldest = { of, at: await listOldestOpen(read) };
  }

  statistics(targets: readonly OutboundTarget[], now: number): readonly TargetStatistics[] {
    return targets.map((target) => ({
      company: target.companyCode,
      target: target.name,
      isConfigured: target.isConfigured,
      open: target.open,
      dead: target.dead,
      oldestAgeMs: Math.max(0, now - (this.#oldest.at.get(target.id) ?? now)),
      isPaused: target.pausedUntil > now,
      isPausedByHand: target.pausedBy !== null,
      ...this.#figuresOf(target.id),
    }));
  }
}
