/**
 * What is removed by its age: one pruner for each kind (`pruners.ts` has the list).
 *
 * A pruner works in steps so small that nobody waits for one, and each step leaves nothing half done. It never looks at a
 * clock to find out what is old: `before` comes from one that was found to be right (`clock-guard.ts`).
 */
import type { RetentionKind } from "../../domain/retention/retention.ts";
import type { Locations } from "../../inbound/places/locations.ts";
import type { FileKind, StuckFiles } from "../../inbound/pruning/pruning.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { SealedNumbers } from "../../lib/sealed-numbers.ts";
import type { Reader, Store } from "../../store/database/database.ts";
import type { NeededDocuments } from "./needed-documents.ts";
import type { Places } from "./places.ts";

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
  /** For what changes while the pass is under way. */
  readonly clock: Clock;
  /** Whether this node does the work of the company. Default: it does that of all. */
  readonly isOurs?: (companyId: number) => boolean;
  /** Where files are moved to instead of being removed. */
  readonly moveTo?: string | undefined;
  /** By the id of the company, what was found to be needed by a pass that was cut off; kept from pass to pass. */
  readonly walks?: Map<number, NeededDocuments> | undefined;
  /** Files that could not be removed or moved; kept from pass to pass. */
  readonly stuck?: StuckFiles | undefined;
  /** Where passes of files, entries, positions and requests were cut off; kept from pass to pass. */
  readonly places?: Places | undefined;
}

/** One kind on its way through the companies. What it has come to is known also when it is cut off. */
export interface Progress {
  readonly tally: Tally;
  readonly signal: AbortSignal;
  /** Hears of a company whose part has failed, and has the others done; without it, the first failure is the end. */
  readonly failed?: ((company: DueCompany, error: unknown) => void) | undefined;
  /** Hears of the company that is begun. */
  readonly begun?: ((company: DueCompany) => void) | undefined;
}

export interface Pruner {
  readonly kind: RetentionKind;
  /** Counts what would go, and changes nothing. Rejects when aborted. */
  wouldGo(deps: PruneDeps, due: readonly DueCompany[], progress: Progress): Promise<void>;
  /** Removes it, and counts each step when it is done. Rejects when aborted; what was removed by then stays removed. */
  prune(deps: PruneDeps, due: readonly DueCompany[], progress: Progress): Promise<void>;
}

/** Does the part of each company, also when that of another fails. Rejects when aborted. */
export async function eachCompany(
  due: readonly DueCompany[],
  { signal, failed, begun }: Progress,
  work: (company: DueCompany) => Promise<void>,
): Promise<void> {
  for (const company of due) {
    signal.throwIfAborted();
    begun?.(company);
    try {
      await work(company);
    } catch (error) {
      if (signal.aborted || failed === undefined) throw error;
      failed(company, error);
    }
  }
}

/** The same of the companies that have anything of the kind: the others need no queries, table by table. */
export async function eachConcerned(
  of: Pick<PruneDeps, "store"> & { readonly concerned: (read: Reader) => Promise<ReadonlySet<number>> },
  { due, progress }: { readonly due: readonly DueCompany[]; readonly progress: Progress },
  work: (company: DueCompany) => Promise<void>,
): Promise<void> {
  const concerned = await of.concerned(of.store.read);
  const some = due.filter(({ id }) => concerned.has(id));
  await eachCompany(some, progress, work);
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
