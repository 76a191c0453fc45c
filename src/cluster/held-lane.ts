/**
 * A company that this node has, from the claim of its lease until its work here has ended: the fence of its units of work, when
 * the lease is over here, and how far the work is. In memory alone.
 *
 *   recovering ──all parts have taken over──> working ──to be given back──> draining
 *       │  └──────────────── cannot be taken over ─────────────────────────────^  │
 *       └────────────────── the lease is lost or over, from any of them ──────────┴──> fenced
 */
import type { ClaimedLease } from "../store/cluster/lease-table.ts";
import type { TakenCompany } from "../store/cluster/ownership.ts";
import type { Fence } from "../store/database/fence.ts";
import { ArrivalsInLine } from "./arrivals-in-line.ts";

export type LaneStage = "recovering" | "working" | "draining" | "fenced";

export interface HeldLaneOptions {
  /** When the lease is over here, by `performance.now()`. */
  readonly endsAt: number;
  readonly onTold: (lane: HeldLane) => void;
}

export class HeldLane {
  readonly company: TakenCompany;
  readonly epoch: number;
  readonly fence: Fence;
  stage: LaneStage = "recovering";
  /** Files that other nodes have entered. */
  readonly arrivals = new ArrivalsInLine();
  /** When the lease is over here, by `performance.now()`. */
  #endsAt: number;
  /** Tells the recovery that the company is lost. */
  readonly #lost = new AbortController();
  /** The recovery, while there is one. */
  recovering: Promise<void> = Promise.resolve();
  /** When its lease was claimed, by `performance.now()`, as below. */
  readonly #heldSince = performance.now();
  /** When all of its parts had taken it over. */
  #worksSince: number | undefined;
  /** What dead nodes left is taken over, and the table of leases is still to know it. */
  isToSettle = false;
  /** When its work here began to end. */
  #drainsSince: number | undefined;

  /** `onTold` is called when a transaction was told of files that are not in line. */
  constructor(company: TakenCompany, { epoch }: ClaimedLease, { endsAt, onTold }: HeldLaneOptions) {
    this.company = company;
    this.epoch = epoch;
    this.#endsAt = endsAt;
    this.fence = {
      ...{ companyId: company.companyId, epoch, beginInOrder: () => this.arrivals.begin() },
      onTold: (told) => {
        this.arrivals.tell(told);
        const { missing } = this.arrivals;
        if (missing !== undefined && missing.length > 0) onTold(this);
      },
      goodForMs: () => this.leftMs,
    };
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Its work begins here. */
  works(): void {
    this.stage = "working";
    this.#worksSince = performance.now();
  }

  /**
   * Its files have waited for the end of a dead node, less than so many milliseconds ago: they had better not move again. What
   * concerns no company has none.
   */
  isRescued(ms: number): boolean {
    if (this.company.orphanedAt === undefined || this.company.companyId === 0) return false;
    return this.#worksSince === undefined || performance.now() - this.#worksSince < ms;
  }

  /**
   * Nor had another company of the node, which takes its time: while this one is rescued, and for twice so long at most from
   * the claim on, however long the take-over takes.
   */
  needsQuiet(ms: number): boolean {
    if (this.stage === "draining" || this.stage === "fenced") return false;
    return this.isRescued(ms) && performance.now() - this.#heldSince < 2 * ms;
  }

  get isOver(): boolean {
    return this.stage === "fenced" || performance.now() >= this.#endsAt;
  }

  /** Until the lease is over, as it is now. */
  get leftMs(): number {
    return this.isOver ? 0 : this.#endsAt - performance.now();
  }

  /** One that was over stays so: units of work were refused meanwhile, and what they were about is not in line any more. */
  extend(endsAt: number): void {
    if (!this.isOver) this.#endsAt = endsAt;
  }

  /** Its work here begins to end. */
  drains(): void {
    this.stage = "draining";
    this.#drainsSince = performance.now();
  }

  /** Its work here has been ending for longer than `ms`. */
  drainsLongerThan(ms: number): boolean {
    return this.#drainsSince !== undefined && performance.now() - this.#drainsSince > ms;
  }

  /** Another node has the company, or will have it soon. */
  lose(): void {
    this.stage = "fenced";
    this.#lost.abort();
  }

  /** Aborts when the lease is over, as it is now. */
  untilOver(): AbortSignal {
    return AbortSignal.timeout(Math.max(0, Math.ceil(this.#endsAt - performance.now())));
  }
}
