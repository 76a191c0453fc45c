/**
 * What a node does about its leases each second: it says that it is there, renews them, ends what is lost, takes what is free,
 * and gives back what is more than its share.
 */
import { createLimitedLog, type LimitedLog } from "../lib/logs/limited-log.ts";
import type { Lease, LeaseTable, NodeReport, Orders } from "../store/cluster/lease-table.ts";
import { ProgramAge, type ProgramAgeDeps } from "./program-age.ts";
import type { HeldLane } from "./held-lane.ts";
import { failing, type HeldLanes, type HeldLanesDeps } from "./held-lanes.ts";
import { TreeWatch } from "./tree-watch.ts";

export interface LeaseRoundsDeps
  extends Pick<HeldLanesDeps, "log">,
    Pick<ProgramAgeDeps, "refuseWrites" | "balancersMs"> {
  readonly table: LeaseTable;
  /** What this node says of itself now; name and incarnation never change. */
  readonly report: () => NodeReport;
  readonly leaseMs: number;
  /** Resolves when the tree of folders answers. */
  readonly askTree: () => Promise<void>;
  /** Another process has taken the name of this node: it must not go on. */
  readonly replaced: () => void;
}

const alone: Orders = {
  ...{ isReplaced: false, isToDrain: false, neededSchema: 0 },
  ...{ nodes: 1, lanes: 0, nextOverMs: null },
};
/** So long after the lease of another node is over the next round begins, and so long after the one before at least. */
const marginMs = 20;

/** How long a lease is good for here, from before the call that gave it. */
function goodMsOf(leaseMs: number): number {
  return leaseMs - Math.min(2_000, leaseMs / 5);
}

/** Those of the lanes whose lease, as it is here, is not among these. */
function missingOf(lanes: readonly HeldLane[], leases: readonly Lease[]): readonly HeldLane[] {
  const epochs = new Map(leases.map(({ companyId, epoch }) => [companyId, epoch]));
  return lanes.filter(({ company, epoch }) => epochs.get(company.companyId) !== epoch);
}

export class LeaseRounds {
  readonly everyMs: number;
  readonly #deps: LeaseRoundsDeps;
  readonly #lanes: HeldLanes;
  readonly #failing: LimitedLog;
  readonly #age: ProgramAge;
  readonly #tree: TreeWatch;
  #orders = alone;
  #reportedAt = performance.now();
  /** When the first report was sent that has no answer. */
  #unansweredSince: number | undefined;
  #renewedAt = Number.NEGATIVE_INFINITY;
  #takesNone = false;

  constructor(deps: LeaseRoundsDeps, lanes: HeldLanes) {
    this.#deps = deps;
    this.#lanes = lanes;
    this.#failing = createLimitedLog(deps.log, failing);
    this.#age = new ProgramAge({ ...deps, schema: deps.report().schema });
    this.everyMs = Math.min(1_000, deps.leaseMs / 8);
    this.#tree = new TreeWatch(deps.askTree, { answerMs: this.everyMs / 2, faultMs: deps.leaseMs / 2 });
  }

  /** Until the next round is to begin: what another node may let run out meanwhile is claimed right then. */
  get pauseMs(): number {
    const { nextOverMs } = this.#orders;
    if (nextOverMs === null) return this.everyMs;
    const untilOver = nextOverMs - this.silentMs;
    return Math.min(this.everyMs, Math.max(0, untilOver) + marginMs);
  }

  get isToDrain(): boolean {
    return this.#orders.isToDrain || this.#age.fault !== undefined;
  }

  /** Why the program is too old for the database, with the remedy. */
  get tooOld(): string | undefined {
    return this.#age.fault;
  }

  /** Why the tree of folders cannot be used, with the remedy. */
  get treeFault(): string | undefined {
    return this.#tree.fault;
  }

  /** Since the database took the last report. */
  get silentMs(): number {
    return performance.now() - this.#reportedAt;
  }

  /** Whether the database has not answered for half a lease; after a process stood still, until its next answer is read. */
  get isCutOff(): boolean {
    const since = this.#unansweredSince;
    return since !== undefined && performance.now() - since > this.#deps.leaseMs / 2;
  }

  /** From now on the leases are renewed, and no further ones taken. */
  takeNone(): void {
    this.#takesNone = true;
  }

  /** Never rejects. */
  async round(): Promise<void> {
    try {
      this.#lanes.fenceOverdue();
      const isTreeThere = this.#tree.look();
      await this.#beat();
      // Without its tree it lets the leases run out: nothing of its work could be ended in order.
      if (!isTreeThere) return;
      if (performance.now() - this.#renewedAt >= this.#deps.leaseMs / 4) await this.#renew();
      this.#lanes.fenceOverdue();
      await this.#lanes.settle();
      if (this.#takesNone) return;
      if (this.isToDrain) this.#lanes.giveBackAll();
      else await this.#balance();
    } catch (error) {
      this.#failing.warn({ err: error }, "the leases of this node cannot be kept now; retrying");
    }
  }

  async #beat(): Promise<void> {
    const { table, report, leaseMs, replaced } = this.#deps;
    this.#unansweredSince ??= performance.now();
    const orders = await table.beat(report(), {
      leaseMs,
      isAway: this.#age.isAway || this.treeFault !== undefined,
    });
    if (orders.isReplaced) {
      replaced();
      throw new Error("another process has the name of this node");
    }
    this.#orders = orders;
    this.#reportedAt = performance.now();
    this.#unansweredSince = undefined;
    await this.#age.note(orders.neededSchema, this.#lanes.all.length);
  }

  async #renew(): Promise<void> {
    const { table, report, leaseMs } = this.#deps;
    const sentAt = performance.now();
    // A lost one runs out in the database too, however long its work takes to end here. So does one whose work does not end.
    const sent = this.#lanes.all.filter((lane) => !lane.isOver && !lane.drainsLongerThan(2 * leaseMs));
    const kept = sent.map(({ company }) => company.companyId);
    const renewed = await table.renew(report().name, leaseMs, kept);
    this.#lanes.extend(renewed, sentAt + goodMsOf(leaseMs));
    // What was not renewed is another node's.
    for (const lane of missingOf(sent, renewed)) this.#lanes.fence(lane);
    this.#renewedAt = sentAt;
  }

  /** The companies are shared out evenly; with one node less, the others take what is over. */
  async #balance(): Promise<void> {
    const { nodes, lanes } = this.#orders;
    const share = Math.ceil(lanes / Math.max(1, nodes));
    const held = this.#lanes.all.length;
    if (held > share && nodes > 1) this.#lanes.giveBackSurplus(held - share);
    await this.#claim(Math.max(0, share - held));
  }

  async #claim(limit: number): Promise<void> {
    const { table, report, leaseMs } = this.#deps;
    const without = this.#lanes.all.map(({ company }) => company.companyId);
    const sentAt = performance.now();
    // Nodes with less than their share come first.
    const graceMs = 2 * this.everyMs;
    const claimed = await table.claim({ node: report().name, leaseMs, limit, graceMs, without });
    await Promise.all(claimed.map((lease) => this.#lanes.begin(lease, sentAt + goodMsOf(leaseMs))));
  }
}
