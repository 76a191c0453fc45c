/**
 * The companies that this node has, and how their work begins and ends here. The parts of the work take a company over one after
 * the other, of some companies at a time, and leave it in reverse; then its lease is given back. A company whose lease is lost is
 * left without touching a file, and forgotten. `LeaseRounds` says which companies come and go.
 */
import { messageOf } from "../lib/errors.ts";
import { ConcurrencyLimit } from "../lib/concurrency.ts";
import { createLimitedLog, type LimitedLog } from "../lib/logs/limited-log.ts";
import type { Logger } from "../lib/logs/log.ts";
import type { ClaimedLease, Lease, LeaseTable } from "../store/cluster/lease-table.ts";
import type { CompanyWork } from "../store/cluster/ownership.ts";
import type { Fence } from "../store/database/fence.ts";
import { leaveAll, takeAll } from "./company-parts.ts";
import { HeldLane, type LaneStage } from "./held-lane.ts";

export interface HeldLanesDeps {
  readonly table: Pick<LeaseTable, "release" | "settle">;
  readonly node: string;
  readonly leaseMs: number;
  readonly companyCodeOf: (companyId: number) => Promise<string>;
  /** A transaction was told of files of the company that are not in line. */
  readonly onTold: (lane: HeldLane) => void;
  readonly log: Logger;
}

/** How many companies are taken over at a time. */
const recoveriesAtOnce = 8;
/** Lines of a fault that comes again each second. */
export const failing = { maxLines: 5, windowMs: 60_000 } as const;

const rankOf = ({ company }: HeldLane) => (company.companyId === 0 ? 0 : 1);

export class HeldLanes {
  readonly #deps: HeldLanesDeps;
  /** In the order in which they begin. */
  readonly #parts: CompanyWork[] = [];
  readonly #lanes = new Map<number, HeldLane>();
  readonly #ending = new Map<HeldLane, Promise<void>>();
  readonly #recoveries = new ConcurrencyLimit(recoveriesAtOnce);
  readonly #failing: LimitedLog;
  #lostCount = 0;

  constructor(deps: HeldLanesDeps) {
    this.#deps = deps;
    this.#failing = createLimitedLog(deps.log, failing);
  }

  /**
   * A further part of the work of each company: before the first company. `isUrgent`: it begins right after the first part,
   * and so ends right before it.
   */
  add(part: CompanyWork, { isUrgent = false }: { readonly isUrgent?: boolean } = {}): void {
    this.#parts.splice(isUrgent ? 1 : this.#parts.length, 0, part);
  }

  /** Also those whose work is ending. */
  get all(): readonly HeldLane[] {
    return [...this.#lanes.values()];
  }

  get(companyId: number): HeldLane | undefined {
    return this.#lanes.get(companyId);
  }

  /** Leases that were lost while the node had them. */
  get lostCount(): number {
    return this.#lostCount;
  }

  fenceOf(companyId: number): Fence | undefined {
    const lane = this.#lanes.get(companyId);
    return lane === undefined || lane.isOver ? undefined : lane.fence;
  }

  inStage(stage: LaneStage): readonly HeldLane[] {
    return this.all.filter((lane) => lane.stage === stage);
  }

  /** The work of the company begins, under a lease that ends here at `endsAt` (`performance.now()`). */
  async begin(lease: ClaimedLease, endsAt: number): Promise<void> {
    const { companyId, orphanedAt } = lease;
    const companyCode = await this.#codeOf(companyId);
    const { onTold } = this.#deps;
    const company = { companyId, companyCode, orphanedAt: orphanedAt ?? undefined };
    const lane = new HeldLane(company, lease, { endsAt, onTold });
    this.#lanes.set(companyId, lane);
    lane.recovering = this.#recoveries.run(() => this.#recover(lane));
  }

  /** These leases were renewed. */
  extend(renewed: readonly Lease[], endsAt: number): void {
    for (const { companyId, epoch } of renewed) {
      const lane = this.#lanes.get(companyId);
      if (lane?.epoch === epoch) lane.extend(endsAt);
    }
  }

  /**
   * Ends the work of so many companies, with those whose work is ending already; not of those just taken from a dead node, nor,
   * for some time, of any other: files of those have waited, and wait longer for whatever else is done. What concerns no company
   * goes first: no file waits for it.
   */
  giveBackSurplus(count: number): void {
    const { leaseMs } = this.#deps;
    if (this.all.some((lane) => lane.needsQuiet(leaseMs))) return;
    const others = this.inStage("working").filter((lane) => !lane.isRescued(leaseMs));
    this.#giveBack(
      others.toSorted((a, b) => rankOf(a) - rankOf(b)),
      count,
    );
  }

  /** Ends the work of all companies that have begun. */
  giveBackAll(): void {
    this.#giveBack(this.inStage("working"), this.#lanes.size);
  }

  #giveBack(working: readonly HeldLane[], count: number): void {
    const ending = this.inStage("draining").length;
    for (const lane of working.slice(0, Math.max(0, count - ending))) void this.drain(lane, lane.untilOver());
  }

  /** Ends the work of a company, and gives its lease back. Resolves when both is done. */
  drain(lane: HeldLane, deadline: AbortSignal): Promise<void> {
    if (lane.stage === "fenced" || lane.stage === "draining")
      return this.#ending.get(lane) ?? Promise.resolve();
    lane.drains();
    return this.#end(lane, AbortSignal.any([deadline, lane.lost]));
  }

  /** The company is another node's: everything about it is forgotten. */
  fence(lane: HeldLane): void {
    // Given back meanwhile.
    if (lane.stage === "fenced" || this.#lanes.get(lane.company.companyId) !== lane) return;
    this.#lostCount += 1;
    const { companyCode: company } = lane.company;
    this.#deps.log.warn(
      { company, epoch: lane.epoch },
      "the lease of a company is lost; another node goes on with it",
    );
    const wasDraining = lane.stage === "draining";
    lane.lose();
    // The drain that is under way ends by this too.
    if (!wasDraining) void this.#end(lane, AbortSignal.abort());
  }

  /** The same for all whose lease is over. */
  fenceOverdue(): void {
    for (const lane of this.all) if (lane.isOver) this.fence(lane);
  }

  /**
   * Tells the table of leases what is taken over of dead nodes. Until it knows, and when a recovery does not come to its end,
   * whoever has the company next looks for the same again.
   */
  async settle(): Promise<void> {
    const isTakingOver = ({ company }: HeldLane) =>
      this.#parts.some((part) => part.isTakingOver?.(company.companyId) === true);
    // What one that drains has not taken over yet is known at its end alone.
    const isDone = (lane: HeldLane) => lane.isToSettle && !lane.isOver && !isTakingOver(lane);
    await this.#settle(this.inStage("working").filter(isDone));
  }

  /** Resolves when all whose work was ending have ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#ending.values());
  }

  /** 0 is what concerns no company. */
  async #codeOf(companyId: number): Promise<string> {
    return companyId === 0 ? "" : await this.#deps.companyCodeOf(companyId);
  }

  async #recover(lane: HeldLane): Promise<void> {
    const { company, epoch, lost } = lane;
    const fields = { company: company.companyCode, epoch };
    const beganAt = performance.now();
    try {
      const parts = await takeAll({ ...this.#deps, parts: this.#parts }, company, lost);
      if (lane.stage !== "recovering") return;
      lane.works();
      lane.isToSettle = company.orphanedAt !== undefined;
      const ms = Math.round(performance.now() - beganAt);
      this.#deps.log.info({ ...fields, ms, parts }, "company taken over");
    } catch (error) {
      if (lane.stage !== "recovering") return;
      this.#failing.warn({ ...fields, err: error }, "a company cannot be taken over now; giving it back");
      // Not awaited: the end waits for this recovery.
      void this.drain(lane, lane.untilOver());
    }
  }

  #end(lane: HeldLane, deadline: AbortSignal): Promise<void> {
    const ending = this.#endOnce(lane, deadline).finally(() => {
      this.#ending.delete(lane);
      this.#lanes.delete(lane.company.companyId);
    });
    this.#ending.set(lane, ending);
    return ending;
  }

  async #settle(lanes: readonly HeldLane[]): Promise<void> {
    if (lanes.length === 0) return;
    const { table, node } = this.#deps;
    await table.settle(
      node,
      lanes.map(({ company, epoch }) => ({ companyId: company.companyId, epoch })),
    );
    for (const lane of lanes) lane.isToSettle = false;
  }

  async #endOnce(lane: HeldLane, deadline: AbortSignal): Promise<void> {
    const { log, table, node } = this.#deps;
    await lane.recovering;
    const how = { isFenced: lane.stage === "fenced", deadline };
    const isSure = await leaveAll({ log, parts: this.#parts }, lane.company, how);
    if (lane.stage === "fenced") return;
    const { companyId, companyCode } = lane.company;
    try {
      if (lane.isToSettle && isSure) await this.#settle([lane]);
      await table.release(node, [{ companyId, epoch: lane.epoch }], { isSure });
      log.info({ company: companyCode }, "company given back");
    } catch (error) {
      log.warn(
        { company: companyCode, reason: messageOf(error) },
        "the lease of a company is not given back; it runs out",
      );
    }
  }
}
