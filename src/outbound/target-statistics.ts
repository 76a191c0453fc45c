/** How targets are doing, for metrics and health. */
import type { Reader } from "../store/database/database.ts";
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
  /** Since the start of the process. */
  readonly attempts: Readonly<Record<AttemptRecord["kind"], number>>;
}

function noAttempts(): Record<AttemptRecord["kind"], number> {
  return { delivered: 0, later: 0, dead: 0, nameTaken: 0, dropped: 0, postponed: 0 };
}

export class TargetCounters {
  readonly #attempts = new Map<number, Record<AttemptRecord["kind"], number>>();
  /** When the oldest open delivery of each target was made; `of` is the list of targets that it was asked with. */
  #oldest: { readonly of: readonly OutboundTarget[]; readonly at: ReadonlyMap<number, number> } = {
    of: [],
    at: new Map(),
  };

  /** Counts the attempts of a target. */
  counterOf(id: number): (record: AttemptRecord) => void {
    const attempts = this.#attempts.get(id) ?? noAttempts();
    this.#attempts.set(id, attempts);
    return ({ kind }) => {
      attempts[kind] += 1;
    };
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
      attempts: { ...(this.#attempts.get(target.id) ?? noAttempts()) },
    }));
  }
}
