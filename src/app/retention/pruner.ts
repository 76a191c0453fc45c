/**
 * What is removed by its age: one pruner for each kind (`pruners.ts` has the list).
 *
 * A pruner works in steps so small that nobody waits for one, and each step leaves nothing half done. It never looks at a
 * clock: `before` comes from a clock that was found to be right (`clock-guard.ts`).
 */
import type { RetentionKind } from "../../domain/retention/retention.ts";
import type { Locations } from "../../inbound/places/locations.ts";
import type { FileKind } from "../../inbound/pruning/pruning.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { SealedNumbers } from "../../lib/sealed-numbers.ts";
import type { Store } from "../../store/database/database.ts";

/** A company that keeps the kind for a time. */
export interface DueCompany {
  readonly id: number;
  readonly code: string;
  /** What was over before this is too old, milliseconds UTC. */
  readonly before: number;
  /** The age, for what says why something is gone. */
  readonly days: number;
}

export interface Amount {
  readonly count: number;
  /** 0 for rows, whose space the database uses again. */
  readonly bytes: number;
  /** When the oldest and the newest of them were over, milliseconds UTC; undefined where nobody needs it or there is none. */
  readonly oldestAt?: number | undefined;
  readonly newestAt?: number | undefined;
}

/** By the id of the company; one without anything old may be missing. */
export type Amounts = ReadonlyMap<number, Amount>;

export interface PruneDeps {
  readonly store: Pick<Store, "read" | "write">;
  readonly locations: Locations;
  readonly ledgerNumbers: Pick<SealedNumbers, "seal">;
  readonly log: Logger;
  /** The clock at the begin of the pass, which was found to be right; milliseconds UTC. */
  readonly now: number;
  /** Whether old files of the kind have to stay at this moment, because a backup is being made. Asked when some would go. */
  readonly isHeldUp: (kind: FileKind) => boolean;
  /** Where files are moved to instead of being removed. */
  readonly moveTo?: string | undefined;
}

export interface Pruner {
  readonly kind: RetentionKind;
  /** Counts what would go, and changes nothing. Rejects when aborted. */
  wouldGo(deps: PruneDeps, due: readonly DueCompany[], signal: AbortSignal): Promise<Amounts>;
  /** Removes it. Rejects when aborted; what was removed by then stays removed. */
  prune(deps: PruneDeps, due: readonly DueCompany[], signal: AbortSignal): Promise<Amounts>;
}

/** Gathers amounts of one kind. */
export class Tally {
  readonly #amounts = new Map<number, Amount>();

  /** `at`: when it was over. */
  add(companyId: number, { count, bytes, oldestAt, newestAt }: Amount): void {
    if (count === 0) return;
    const known = this.#amounts.get(companyId) ?? { count: 0, bytes: 0 };
    this.#amounts.set(companyId, {
      count: known.count + count,
      bytes: known.bytes + bytes,
      oldestAt: least(known.oldestAt, oldestAt),
      newestAt: greatest(known.newestAt, newestAt),
    });
  }

  get amounts(): Amounts {
    return this.#amounts;
  }
}

function least(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

function greatest(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);
}
