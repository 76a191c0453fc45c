/**
 * Keeps the leases of this node, and tells the parts of the background work which companies they have
 * (specification/operation.md#several-nodes).
 *
 *   free ──claim: epoch + 1──> recovering ──each part has taken over──> working ──surplus, drain, stop──> draining ──> free
 *                                  └──────────── lost or over ────────────┴──> fenced: forgotten, no file touched ──> free
 *
 * A lease counts from before its renewal was sent, on the clock that nobody sets, and ends some time early here: so another
 * node hardly ever has it while this one still acts. That alone protects nothing, since a process may be stopped between any
 * two instructions; what protects the data is the epoch that each unit of work is held to (`store/database/fence.ts`).
 *
 * Survives a crash: the rows. The leases of a dead node are over after `leaseMs`; a node that starts again under its own name
 * takes its own back at once.
 */
import { aborted } from "../lib/aborted.ts";
import { createLimitedLog, type LimitedLog } from "../lib/logs/limited-log.ts";
import { OperatorError } from "../lib/operator-error.ts";
import type { Service } from "../lib/service.ts";
import { sleep } from "../lib/sleep.ts";
import type { CompanyWork, Ownership } from "../store/cluster/ownership.ts";
import type { Fence } from "../store/database/fence.ts";
import { ArrivalRounds, type ArrivalRoundsDeps } from "./arrival-rounds.ts";
import type { LaneStage } from "./held-lane.ts";
import { failing, HeldLanes, type HeldLanesDeps } from "./held-lanes.ts";
import { LeaseRounds, type LeaseRoundsDeps } from "./lease-rounds.ts";

export interface LeaseKeeperDeps
  extends LeaseRoundsDeps,
    ArrivalRoundsDeps,
    Pick<HeldLanesDeps, "companyCodeOf"> {
  /** Of the process that had the name on this machine before. */
  readonly formerIncarnation: string | undefined;
}

/** How a node stands with its companies, for monitoring. */
export interface KeeperStatistics {
  /** Companies that it has, by stage. */
  readonly lanes: Readonly<Record<LaneStage, number>>;
  readonly isDraining: boolean;
  /** Leases that were lost while the node had them. */
  readonly lost: number;
  /** Since the database took the last report, in milliseconds. */
  readonly silentMs: number;
}

export class LeaseKeeper implements Ownership, Service {
  readonly name = "leases";
  readonly isSole = false;
  readonly #deps: LeaseKeeperDeps;
  readonly #lanes: HeldLanes;
  readonly #rounds: LeaseRounds;
  readonly #arrivals: ArrivalRounds;
  /** Of what other nodes tell. */
  readonly #failing: LimitedLog;
  readonly #stopping = new AbortController();
  #isStopping = false;
  #loops: Promise<unknown> = Promise.resolve();

  constructor(deps: LeaseKeeperDeps) {
    this.#deps = deps;
    this.#failing = createLimitedLog(deps.log, failing);
    this.#lanes = new HeldLanes({
      ...{ ...deps, node: deps.report().name },
      onTold: ({ company }) => void this.#noted(this.#arrivals.readTold(company.companyId)),
    });
    this.#rounds = new LeaseRounds(deps, this.#lanes);
    this.#arrivals = new ArrivalRounds(deps, deps.report().name, this.#lanes);
  }

  /** A further part of the work of each company; before `start`. `isUrgent`: it begins right after the first one. */
  add(part: CompanyWork, options?: { readonly isUrgent?: boolean }): void {
    this.#lanes.add(part, options);
  }

  fenceOf(companyId: number): Fence | undefined {
    return this.#lanes.fenceOf(companyId);
  }

  /** Why the tree of folders cannot be used, with the remedy. */
  get treeFault(): string | undefined {
    return this.#rounds.treeFault;
  }

  /** Why the program is too old for the database, with the remedy; undefined when it is not. */
  get tooOld(): string | undefined {
    return this.#rounds.tooOld;
  }

  /** Whether the database has not answered for half a lease. */
  get isCutOff(): boolean {
    return this.#rounds.isCutOff;
  }

  statistics(): KeeperStatistics {
    const lanes = { recovering: 0, working: 0, draining: 0, fenced: 0 };
    for (const { stage } of this.#lanes.all) lanes[stage] += 1;
    const { isToDrain: isDraining, silentMs } = this.#rounds;
    return { lanes, isDraining, silentMs, lost: this.#lanes.lostCount };
  }

  /** Waits until the name is free; resolves when the companies that are free, as far as they are its share, are taken over. */
  async start(signal: AbortSignal): Promise<void> {
    await this.#enter(signal);
    await this.#rounds.round();
    // At once: a recovery may take longer than a lease.
    this.#loops = Promise.all([
      this.#repeat(
        () => this.#rounds.pauseMs,
        () => this.#rounds.round(),
      ),
      this.#repeat(
        () => this.#arrivals.everyMs,
        () => this.#noted(this.#arrivals.round()),
      ),
      // By itself: a round may wait long for the database.
      this.#repeat(
        () => this.#rounds.everyMs,
        async () => this.#lanes.fenceOverdue(),
      ),
    ]);
    await Promise.all(this.#lanes.all.map((lane) => lane.recovering));
  }

  /** Gives all companies back, as far as their work ends until then. */
  async stop(deadline: AbortSignal): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#rounds.takeNone();
    await Promise.race([this.#drainAll(deadline), aborted(deadline)]);
    this.#stopping.abort();
    await this.#loops;
    // A claim that was under way may have begun further ones.
    await Promise.race([this.#drainAll(deadline), aborted(deadline)]);
    const { name, incarnation } = this.#deps.report();
    await this.#deps.table.leave(name, incarnation).catch((error: unknown) => {
      // Its leases have been given back; the name is free when it has not been seen for so long as a lease is.
      this.#deps.log.warn(
        { err: error, node: name },
        "the other nodes could not be told that this one stops",
      );
    });
  }

  async #drainAll(deadline: AbortSignal): Promise<void> {
    await Promise.all(this.#lanes.all.map((lane) => this.#lanes.drain(lane, deadline)));
    await this.#lanes.ended();
  }

  async #enter(signal: AbortSignal): Promise<void> {
    const { table, report, leaseMs, formerIncarnation: former, log } = this.#deps;
    const giveUpAt = performance.now() + 2 * leaseMs;
    for (;;) {
      signal.throwIfAborted();
      const { rival } = await table.enter(report(), { leaseMs, former });
      if (rival === undefined) return;
      const { name } = report();
      if (performance.now() > giveUpAt)
        throw new OperatorError(
          `another node has the name ${name}, and was there ${Math.round(rival.silentMs)} ms ago: give each node a name of ` +
            "its own (`cluster.node`)",
        );
      log.warn(
        { node: name, silentMs: rival.silentMs },
        "another process has the name of this node; waiting whether it ends",
      );
      await sleep(Math.min(1_000, leaseMs / 2), signal);
    }
  }

  async #repeat(pauseMs: () => number, work: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await sleep(pauseMs(), signal);
      if (!signal.aborted) await work();
    }
  }

  /** Puts all in line that other nodes have entered for the company, as its last transaction was told. Never rejects. */
  lookForArrivals(companyId: number): Promise<void> {
    return this.#noted(this.#arrivals.lookFor(companyId, this.#stopping.signal));
  }

  async #noted(work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.#failing.warn({ err: error }, "what other nodes tell of files cannot be read now; retrying");
      await sleep(this.#arrivals.everyMs, this.#stopping.signal);
    }
  }
}
