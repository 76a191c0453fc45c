/**
 * The delivery queue (specification/outbound.md#states-of-a-delivery): finds what state changes have put into the store
 * and brings it to its targets.
 *
 * Each target has a runner of its own, so that one that is slow or dead blocks no other. The store is the queue: the process
 * keeps a page of it for each target, and which deliveries it is trying. It asks the store after a commit (`wake`) and each
 * second, which finds what another process has written and what has become due. It asks only for targets for which something
 * was added; once a minute it asks for all, in case that somebody changed rows by hand.
 *
 * After a restore deliveries are held: until somebody releases them there is no runner, and so nothing is sent.
 *
 * Where several nodes share a database, each has the runners of the companies that it has: they begin and end with the lease.
 *
 * Never lost: a delivery leaves the queue in the transaction that records its outcome. Sent twice only when the process dies,
 * or loses the company, between the two, or the peer's answer is lost; then with the same id and the same bytes.
 */
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logs/log.ts";
import type { Service } from "../lib/service.ts";
import {
  type CompanyWork,
  type Ownership,
  soleOwnership,
  type TakenCompany,
} from "../store/cluster/ownership.ts";
import { TakenCompanies } from "../lib/taken-companies.ts";
import type { Store } from "../store/database/database.ts";
import { findDeliveryHold } from "../store/outbound/delivery-hold.ts";
import {
  listOutboundTargets,
  type OutboundTarget,
  hasMiscounts,
  recountTargets,
} from "../store/outbound/outbound-targets.ts";
import type { TargetInUse } from "./attempt.ts";
import { CompanyRecorders } from "./company-recorders.ts";
import type { RenderOrWithhold } from "./delivery-to-render.ts";
import { TargetRunner } from "./target-runner.ts";
import { TargetRunners } from "./target-runners.ts";
import { TargetCounters, type TargetStatistics } from "./target-statistics.ts";

export interface DeliveryQueueDeps {
  readonly store: Pick<Store, "read" | "write">;
  readonly clock: Clock;
  readonly log: Logger;
  /** What the configuration says of the target: the very same object as long as that has not changed. May throw. */
  readonly targets: (target: OutboundTarget) => TargetInUse;
  readonly render: RenderOrWithhold;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Without it this process delivers for all companies. */
  readonly ownership?: Ownership;
  /** Between two looks that nobody has asked for, milliseconds; a second unless given. */
  readonly lookEveryMs?: number;
}

const usualLookMs = 1_000;
/** Commits come in bursts. */
const wakeDelayMs = 10;
const ticksToFullLook = 60;
const noTargets: readonly OutboundTarget[] = [];

/** The queue; `start` begins to deliver. */
export class DeliveryQueue implements Service, CompanyWork {
  readonly name = "delivery queue";
  readonly #deps: DeliveryQueueDeps;
  readonly #recorders: CompanyRecorders;
  readonly #runners: TargetRunners;
  readonly #counters = new TargetCounters();
  readonly #companies: TakenCompanies;
  /** Those of the companies that this node has. */
  #targets = noTargets;
  #ticks = 0;
  #timer: NodeJS.Timeout | undefined;
  #wakeTimer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(deps: DeliveryQueueDeps) {
    this.#deps = deps;
    const recorders = new CompanyRecorders(deps);
    this.#recorders = recorders;
    const { log, targets, ownership = soleOwnership } = deps;
    this.#companies = new TakenCompanies(ownership);
    this.#runners = new TargetRunners({
      ...{ log, targets },
      newRunner: (target, inUse) =>
        new TargetRunner(target, inUse, {
          ...deps,
          recorder: recorders.of(target.companyId),
          onAttempt: this.#counters.counterOf(target.id),
          isOurs: () => ownership.fenceOf(target.companyId) !== undefined,
        }),
      onRetired: () => this.wake(),
    });
  }

  async start(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#companies.all === undefined) await this.#deps.store.write("site", (tx) => recountTargets(tx));
    this.#tick();
    await this.#looking;
    this.#timer = setInterval(() => this.#tick(), this.#deps.lookEveryMs ?? usualLookMs);
    this.#timer.unref();
  }

  /** Begins to deliver for the company. */
  async take({ companyId }: TakenCompany): Promise<void> {
    const { store } = this.#deps;
    // As a rule they are right: the files of all companies that a node takes over wait for what it writes.
    if (await hasMiscounts(store.read, companyId))
      await store.write(companyId, (tx) => recountTargets(tx, companyId));
    this.#companies.take(companyId);
    this.#lookSoon();
  }

  /**
   * Attempts in hand end, and are recorded: by the deadline, or at once when another node has the company, which sends again
   * what is not recorded.
   */
  async leave(
    { companyId }: TakenCompany,
    { isFenced }: { readonly isFenced: boolean },
    deadline: AbortSignal,
  ): Promise<void> {
    this.#companies.leave(companyId);
    const until = isFenced ? AbortSignal.abort() : deadline;
    this.#recorders.endBy(until, companyId);
    await this.#runners.end(companyId, until);
    await this.#recorders.end(companyId);
  }

  /** Something may have been put in the queue. Cheap: calls in quick succession are one query. */
  wake(): void {
    if (this.#wakeTimer !== undefined || this.#isStopped) return;
    this.#wakeTimer = setTimeout(() => {
      this.#wakeTimer = undefined;
      this.#lookSoon();
    }, wakeDelayMs);
    this.#wakeTimer.unref();
  }

  /** The configuration of targets has changed, and stands in the store. */
  reload(): void {
    this.#runners.forgetBroken();
    // Looks first: a target that has left the configuration has no runner after it.
    this.#lookSoon();
    this.#looking = this.#looking.then(() => {
      if (!this.#isStopped) this.#runners.replaceTargets();
    });
  }

  /** Asks the store once, and resolves when all that is due now has been tried and recorded. */
  async settled(): Promise<void> {
    this.#lookSoon();
    await this.#looking;
    await this.#runners.settled();
  }

  statistics(): readonly TargetStatistics[] {
    return this.#counters.statistics(this.#targets, this.#deps.clock.now());
  }

  async stop(deadline: AbortSignal): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    clearTimeout(this.#wakeTimer);
    await this.#looking;
    this.#recorders.endBy(deadline);
    await this.#runners.stop(deadline);
    await this.#recorders.idle();
    await this.#runners.close();
  }

  #tick(): void {
    if (this.#ticks % ticksToFullLook === 0) this.#runners.forgetAdded();
    this.#ticks += 1;
    this.#lookSoon();
    this.#looking = this.#looking.then(() => this.#readAges());
  }

  #lookSoon(): void {
    this.#looking = this.#looking.then(() => this.#look());
  }

  async #look(): Promise<void> {
    if (this.#isStopped) return;
    try {
      const { read } = this.#deps.store;
      const hold = await findDeliveryHold(read);
      // In the turn of the answer: a company that was given back meanwhile has no runner any more.
      this.#targets = this.#companies.of(await listOutboundTargets(read));
      this.#runners.look(hold === undefined ? this.#targets : noTargets);
    } catch (error) {
      this.#deps.log.error({ err: error }, "the delivery queue could not read due deliveries; retrying");
    }
  }

  async #readAges(): Promise<void> {
    if (this.#isStopped) return;
    try {
      await this.#counters.readAges(this.#deps.store.read, this.#targets);
    } catch (error) {
      this.#deps.log.error({ err: error }, "the age of deliveries could not be read");
    }
  }
}
