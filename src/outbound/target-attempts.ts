/**
 * Attempts on one target: whether and how many there may be now, and what they say of the health of the target. The target
 * can be replaced while attempts on the old one are under way.
 */
import type { Clock } from "../lib/clock.ts";
import { ConcurrencyLimit } from "../lib/concurrency.ts";
import { isoTime } from "../lib/iso-time.ts";
import type { Logger } from "../lib/logs/log.ts";
import type { OutboundTarget, TargetPause } from "../store/outbound/outbound-targets.ts";
import { attemptDelivery, type AttemptResult, type TargetInUse } from "./attempt.ts";
import type { DeliveryToRender, RenderOrWithhold } from "./delivery-to-render.ts";
import { TargetHealth } from "./target-health.ts";

export interface AttemptsDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  readonly render: RenderOrWithhold;
  /** Whether this process delivers for the company of the target now. */
  readonly isOurs: () => boolean;
}

/** An attempt that is over, and how the target stands with it when that has changed. */
export interface EndedAttempt {
  readonly result: Exclude<AttemptResult, { kind: "aborted" }>;
  readonly pause: TargetPause | undefined;
  /** When it began and ended, milliseconds UTC. */
  readonly at: number;
  readonly now: number;
  readonly durationMs: number;
  readonly random: number;
}

/** Files with embedded documents have many megabytes, several times over while they are made: so few are in memory. */
const largeAtOnce = 2;

function isLarge({ completion }: DeliveryToRender): boolean {
  return completion?.embedsDocuments === true && completion.execution.includes('"documents":[');
}

export class TargetAttempts {
  readonly #of: Pick<OutboundTarget, "companyCode" | "name">;
  readonly #deps: AttemptsDeps;
  readonly #health: TargetHealth;
  readonly #stopping = new AbortController();
  readonly #large = new ConcurrencyLimit(largeAtOnce);
  #inUse: TargetInUse;
  /** Who has paused the target by hand. */
  #pausedBy: string | null = null;
  /** Attempts under way on the target as it is now. */
  #places = { active: 0 };
  /** Those that have begun since it failed: what hangs from before must not block the next try. */
  #round = { active: 0 };

  constructor(target: OutboundTarget, inUse: TargetInUse, deps: AttemptsDeps) {
    this.#of = target;
    this.#inUse = inUse;
    this.#deps = deps;
    this.#health = new TargetHealth(target);
  }

  get inUse(): TargetInUse {
    return this.#inUse;
  }

  /** Takes over the pauses as the store has them. Tells whether somebody has resumed the target since the last call. */
  heed({ pausedUntil, pausedBy }: Pick<OutboundTarget, "pausedUntil" | "pausedBy">): {
    readonly isResumed: boolean;
  } {
    if (this.#health.isEndedBy(pausedUntil, this.#deps.clock.now())) this.#beginAnew();
    const before = this.#pausedBy;
    this.#pausedBy = pausedBy;
    if (before === pausedBy) return { isResumed: false };
    const fields = { company: this.#of.companyCode, target: this.#of.name };
    if (pausedBy === null) this.#deps.log.info(fields, "the target is resumed");
    else this.#deps.log.info({ ...fields, pausedBy }, "the target is paused by hand");
    return { isResumed: pausedBy === null };
  }

  /** Uses another target from now on. */
  replace(inUse: TargetInUse): void {
    if (this.#inUse.target !== inUse.target) this.#places = { active: 0 };
    this.#inUse = inUse;
    this.#beginAnew();
  }

  /** No attempt may last longer than the deadline. */
  endBy(deadline: AbortSignal): void {
    const abort = () => this.#stopping.abort(deadline.reason);
    deadline.addEventListener("abort", abort, { once: true });
    if (deadline.aborted) abort();
  }

  hasPlace(now: number): boolean {
    if (this.#pausedBy !== null || this.#health.isPaused(now)) return false;
    if (this.#health.isOnTrial && this.#round.active > 0) return false;
    return this.#places.active < Math.max(1, this.#inUse.target.concurrency);
  }

  /** Tries the delivery, for which there is a place; undefined when the daemon stops, or another node has the company. */
  async make(row: DeliveryToRender): Promise<EndedAttempt | undefined> {
    const { clock } = this.#deps;
    const at = clock.now();
    const begun = performance.now();
    const { round } = this.#health;
    const result = await this.#try(row);
    if (result.kind === "aborted") return undefined;
    const ending = { now: clock.now(), random: this.#deps.random() };
    const pause = this.#health.learn(result, round, ending);
    if (pause !== undefined) this.#logHealth(pause, result);
    return { result, pause, at, durationMs: Math.round(performance.now() - begun), ...ending };
  }

  /** Takes a place until the attempt is over. */
  async #try(row: DeliveryToRender): Promise<AttemptResult> {
    const counts = [this.#places, this.#round];
    for (const count of counts) count.active += 1;
    const { log, render, isOurs } = this.#deps;
    const deps = { render, log, isOurs, inUse: this.#inUse, stopping: this.#stopping.signal };
    const attempt = () => attemptDelivery(deps, row);
    const result = await (isLarge(row) ? this.#large.run(attempt) : attempt());
    for (const count of counts) count.active -= 1;
    return result;
  }

  #beginAnew(): void {
    this.#health.beginAnew();
    this.#round = { active: 0 };
  }

  #logHealth(pause: TargetPause, result: AttemptResult): void {
    const fields = { company: this.#of.companyCode, target: this.#of.name };
    if (pause.failures === 0) {
      this.#deps.log.info(fields, "the target takes deliveries again");
      return;
    }
    this.#round = { active: 0 };
    const { failures } = pause;
    const nextAttemptAt = isoTime(pause.pausedUntil);
    const why =
      result.kind === "tried" && result.outcome.kind === "failed" ? result.outcome.message : undefined;
    this.#deps.log.warn({ ...fields, failures, nextAttemptAt, message: why }, "the target is paused");
  }
}
