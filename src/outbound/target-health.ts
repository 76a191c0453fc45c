/**
 * Whether a target is tried, and how much at a time.
 *
 *   open ──fault of the target──> paused ──the pause is over──> one is tried alone ──> open
 *    all places                     ^ nothing                          │
 *                                   └──fault of the target, longer─────┘
 *
 * Attempts that were under way together when the target failed count as one failure: all but the first of them belong to
 * an earlier round.
 */
import { longestWaitMs, pausedUntil } from "../domain/outbound/retry-schedule.ts";
import type { TargetPause } from "../store/outbound/outbound-targets.ts";
import type { AttemptResult } from "./attempt.ts";

interface AttemptEnd {
  readonly now: number;
  readonly random: number;
}

export class TargetHealth {
  readonly #id: number;
  #failures: number;
  #pausedUntil: number;
  /** When the pause began. */
  #pausedAt = 0;
  #round = 0;

  constructor(target: TargetPause) {
    this.#id = target.id;
    this.#failures = target.failures;
    this.#pausedUntil = target.pausedUntil;
  }

  /** For an attempt that begins. */
  get round(): number {
    return this.#round;
  }

  get isOnTrial(): boolean {
    return this.#failures > 0;
  }

  isPaused(now: number): boolean {
    return now < this.#pausedUntil && this.#pausedUntil <= now + longestWaitMs;
  }

  /**
   * Whether another process has ended the pause: then the store has the time of that. What was read before the pause was
   * written is older than its beginning.
   */
  isEndedBy(storedUntil: number, now: number): boolean {
    return this.isPaused(now) && storedUntil >= this.#pausedAt && storedUntil <= now;
  }

  /** The target is to be tried at once, because somebody has repaired it; attempts under way say nothing any more. */
  beginAnew(): void {
    this.#round += 1;
    this.#pausedUntil = 0;
  }

  /** Learns from an attempt that began in that round. Gives what is to be recorded when it changes how the target stands. */
  learn(
    result: Exclude<AttemptResult, { kind: "aborted" }>,
    round: number,
    { now, random }: AttemptEnd,
  ): TargetPause | undefined {
    if (round !== this.#round || result.kind !== "tried") return undefined;
    const { outcome } = result;
    if (outcome.kind !== "failed" || outcome.scope === "delivery") return this.#recover();
    this.#round += 1;
    this.#failures += 1;
    this.#pausedAt = now;
    const { retryAfterMs, isPermanent } = outcome;
    const failures = this.#failures;
    this.#pausedUntil = pausedUntil({ failures, now, random, retryAfterMs, isPermanent });
    return this.#pause();
  }

  #recover(): TargetPause | undefined {
    if (this.#failures === 0) return undefined;
    this.#failures = 0;
    this.#pausedUntil = 0;
    return this.#pause();
  }

  #pause(): TargetPause {
    return { id: this.#id, failures: this.#failures, pausedUntil: this.#pausedUntil };
  }
}
