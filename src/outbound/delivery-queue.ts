/**
 * The delivery queue (specification/outbound.md#states-of-a-delivery): finds what state changes have put into the store
 * and brings it to its targets.
 *
 * Each target has a runner of its own, so that one that is slow or dead holds up no other. The store is the queue: the
 * process keeps a page of it for each target, and which deliveries it is trying. It looks when it is told that something
 * was committed (`wake`) and each second, which finds what another process has written and what has become due. A look asks
 * only for targets for which something was added; once a minute it asks for all, in case that somebody changed rows by hand.
 *
 * Never lost: a delivery leaves the queue in the transaction that records its outcome. Sent twice only when the process dies
 * between the two, or the other side's answer is lost; then with the same id and the same bytes.
 */
import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logs/log.ts";
import type { Service } from "../lib/service.ts";
import type { Store } from "../store/database/database.ts";
import type { AttemptRecord } from "./record-attempts.ts";
import {
  listOldestOpen,
  listOutboundTargets,
  type OutboundTarget,
  recountTargets,
} from "../store/outbound/outbound-targets.ts";
import type { TargetInUse } from "./attempt.ts";
import type { RenderOrWithhold } from "./delivery-to-render.ts";
import { createOutcomeRecorder } from "./outcome-recorder.ts";
import { TargetRunner } from "./target-runner.ts";

export interface DeliveryQueueDeps {
  readonly store: Pick<Store, "read" | "write">;
  readonly clock: Clock;
  readonly log: Logger;
  /** What the configuration says of the target: the very same object as long as that has not changed. May throw. */
  readonly targets: (target: OutboundTarget) => TargetInUse;
  readonly render: RenderOrWithhold;
  /** From 0 to 1. */
  readonly random: () => number;
}

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

export interface DeliveryQueue extends Service {
  /** Something may have been put in the queue. Cheap: calls in quick succession are one look. */
  wake(): void;
  /** The configuration of targets has changed, and stands in the store. */
  reload(): void;
  /** Looks once, and resolves when all that is due now has been tried and recorded. */
  settled(): Promise<void>;
  statistics(): readonly TargetStatistics[];
}

const lookIntervalMs = 1_000;
/** Commits come in bursts. */
const wakeDelayMs = 10;
const ticksToFullLook = 60;
const closeGraceMs = 1_000;

function noAttempts(): Record<AttemptRecord["kind"], number> {
  return { delivered: 0, later: 0, dead: 0, nameTaken: 0, dropped: 0, postponed: 0 };
}

class Queue implements DeliveryQueue {
  readonly name = "delivery queue";
  readonly #deps: DeliveryQueueDeps;
  readonly #recorder: ReturnType<typeof createOutcomeRecorder>;
  readonly #runners = new Map<number, TargetRunner>();
  /** Runners of targets that are no longer in the configuration, until their attempts are over. */
  readonly #retiring = new Map<number, TargetRunner>();
  /** Targets that could not be made; they are tried again when the configuration changes. */
  readonly #broken = new Set<number>();
  /** Targets that are not in the configuration, and that the log has told of. */
  readonly #left = new Set<number>();
  readonly #attempts = new Map<number, Record<AttemptRecord["kind"], number>>();
  /** What is being closed while the queue goes on. */
  readonly #closing = new Set<Promise<void>>();
  #targets: readonly OutboundTarget[] = [];
  /** What was added for each target up to the last look. */
  readonly #added = new Map<number, number>();
  /** When the oldest open delivery of each target was made; `of` is the list of targets that it was asked with. */
  #oldest: { readonly of: readonly OutboundTarget[]; readonly at: ReadonlyMap<number, number> } = {
    of: [],
    at: new Map(),
  };
  #ticks = 0;
  #timer: NodeJS.Timeout | undefined;
  #wakeTimer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(deps: DeliveryQueueDeps) {
    this.#deps = deps;
    this.#recorder = createOutcomeRecorder(deps);
  }

  async start(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await this.#deps.store.write((tx) => recountTargets(tx));
    this.#tick();
    await this.#looking;
    this.#timer = setInterval(() => this.#tick(), lookIntervalMs);
    this.#timer.unref();
  }

  wake(): void {
    if (this.#wakeTimer !== undefined || this.#isStopped) return;
    this.#wakeTimer = setTimeout(() => {
      this.#wakeTimer = undefined;
      this.#lookSoon();
    }, wakeDelayMs);
    this.#wakeTimer.unref();
  }

  reload(): void {
    this.#broken.clear();
    // Looks first: a target that has left the configuration has no runner after it.
    this.#lookSoon();
    this.#looking = this.#looking.then(() => this.#replaceTargets());
  }

  async settled(): Promise<void> {
    this.#lookSoon();
    await this.#looking;
    await Promise.all([...this.#runners.values()].map((runner) => runner.settled()));
  }

  statistics(): readonly TargetStatistics[] {
    const now = this.#deps.clock.now();
    return this.#targets.map((target) => ({
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

  async stop(deadline: AbortSignal): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    clearTimeout(this.#wakeTimer);
    await this.#looking;
    this.#recorder.endBy(deadline);
    const runners = [...this.#runners.values(), ...this.#retiring.values()];
    await Promise.all(runners.map((runner) => runner.stop(deadline)));
    await this.#recorder.idle();
    for (const runner of this.#runners.values()) this.#inBackground(runner.inUse.target.close());
    this.#runners.clear();
    // A target that hangs at its close is left behind.
    await Promise.race([Promise.all(this.#closing), wait(closeGraceMs, undefined, { ref: false })]);
  }

  #tick(): void {
    if (this.#ticks % ticksToFullLook === 0) this.#added.clear();
    this.#ticks += 1;
    this.#lookSoon();
    this.#looking = this.#looking.then(() => this.#lookAtAges());
  }

  #lookSoon(): void {
    this.#looking = this.#looking.then(() => this.#look());
  }

  async #look(): Promise<void> {
    if (this.#isStopped) return;
    try {
      const targets = await listOutboundTargets(this.#deps.store.read);
      if (targets !== this.#targets) this.#takeOver(targets);
      for (const target of targets) {
        const { id, added } = target;
        const isNews = this.#added.get(id) !== added;
        this.#added.set(id, added);
        this.#runners.get(id)?.heed(target);
        this.#runners.get(id)?.look(isNews);
      }
    } catch (error) {
      this.#deps.log.error({ err: error }, "the delivery queue could not look for work; it looks again");
    }
  }

  async #lookAtAges(): Promise<void> {
    const of = this.#targets;
    if (this.#isStopped || this.#oldest.of === of) return;
    try {
      this.#oldest = { of, at: await listOldestOpen(this.#deps.store.read) };
    } catch (error) {
      this.#deps.log.error({ err: error }, "the age of deliveries could not be found out");
    }
  }

  /** There is a runner for each target of the configuration. */
  #takeOver(targets: readonly OutboundTarget[]): void {
    this.#targets = targets;
    const configured = new Set(targets.filter(({ isConfigured }) => isConfigured).map(({ id }) => id));
    for (const [id, runner] of this.#runners) {
      if (configured.has(id)) continue;
      this.#runners.delete(id);
      this.#inBackground(this.#retire(id, runner));
    }
    for (const target of targets) {
      this.#tellOfLeft(target);
      const isNew = !this.#runners.has(target.id) && !this.#retiring.has(target.id);
      if (isNew && configured.has(target.id)) this.#addRunner(target);
    }
  }

  #replaceTargets(): void {
    if (this.#isStopped) return;
    for (const runner of this.#runners.values()) {
      const inUse = this.#make(runner.target);
      if (inUse !== undefined) this.#inBackground(runner.replace(inUse));
    }
  }

  /** Once for each target that has left the configuration while something was waiting for it. */
  #tellOfLeft({ id, isConfigured, open, companyCode, name }: OutboundTarget): void {
    if (isConfigured || open === 0) {
      this.#left.delete(id);
      return;
    }
    if (this.#left.has(id)) return;
    this.#left.add(id);
    this.#deps.log.warn(
      { company: companyCode, target: name, open },
      "a target is not in the configuration; what is for it waits until it is there again",
    );
  }

  /** What it holds must not be tried by another runner of the same target meanwhile. */
  async #retire(id: number, runner: TargetRunner): Promise<void> {
    this.#retiring.set(id, runner);
    await runner.stop(new AbortController().signal);
    this.#retiring.delete(id);
    await runner.inUse.target.close();
    // It may be in the configuration again.
    this.#targets = [];
    this.wake();
  }

  #addRunner(target: OutboundTarget): void {
    if (this.#broken.has(target.id)) return;
    const inUse = this.#make(target);
    if (inUse === undefined) return;
    const attempts = this.#attempts.get(target.id) ?? noAttempts();
    this.#attempts.set(target.id, attempts);
    const { store, clock, log, random, render } = this.#deps;
    const onAttempt = ({ kind }: AttemptRecord) => {
      attempts[kind] += 1;
    };
    const deps = { store, clock, log, random, render, recorder: this.#recorder, onAttempt };
    this.#runners.set(target.id, new TargetRunner(target, inUse, deps));
  }

  #make(target: OutboundTarget): TargetInUse | undefined {
    try {
      return this.#deps.targets(target);
    } catch (error) {
      this.#broken.add(target.id);
      const fields = { err: error, company: target.companyCode, target: target.name };
      this.#deps.log.error(fields, "a target cannot be used; what is for it waits");
      return undefined;
    }
  }

  #inBackground(work: Promise<void>): void {
    const watched = work
      .catch((error: unknown) => this.#deps.log.error({ err: error }, "a target could not be closed"))
      .finally(() => this.#closing.delete(watched));
    this.#closing.add(watched);
  }
}

/** Makes the queue; `start` begins to deliver. */
export function createDeliveryQueue(deps: DeliveryQueueDeps): DeliveryQueue {
  return new Queue(deps);
}
