/**
 * Delivers to one target: as many at a time as it takes, in order of their due times, nothing while it is paused.
 *
 *   (store) due ──page──> ready ──place──> tried ──outcome──> recorded ──> (store) delivered, waiting, dead
 *                                    └──────────── held ───────────┘
 *
 * A delivery is held from the moment it is taken until its outcome is durable, so that no page gives it twice; so is its
 * line, because an earlier delivery of it may be asked for again meanwhile, and is waiting then too. Nothing of this survives
 * a crash: what was not recorded is waiting, and is sent again under the same id with the same bytes.
 */
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../lib/clock.ts";
import { isoTime } from "../lib/iso-time.ts";
import type { Logger } from "../lib/logs/log.ts";
import type { Store } from "../store/database/database.ts";
import type { AttemptRecord } from "./record-attempts.ts";
import type { OutboundTarget, TargetPause } from "../store/outbound/outbound-targets.ts";
import { attemptDelivery, type AttemptResult, type TargetInUse } from "./attempt.ts";
import { logAttempt } from "./attempt-log.ts";
import { attemptRecordOf } from "./attempt-record.ts";
import type { DeliveryToRender, RenderOrWithhold } from "./delivery-to-render.ts";
import { FewAtOnce } from "../lib/files/at-once.ts";
import { HeldLines } from "./held-lines.ts";
import { DueDeliveries } from "./due-deliveries.ts";
import type { OutcomeRecorder } from "./outcome-recorder.ts";
import { TargetHealth } from "./target-health.ts";

export interface RunnerDeps {
  readonly store: Pick<Store, "read">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  readonly render: RenderOrWithhold;
  readonly recorder: Pick<OutcomeRecorder, "add">;
  readonly onAttempt: (record: AttemptRecord) => void;
}

/** Outcomes that wait to be recorded; beyond it no more is sent, because all of it would be sent again after a crash. */
const maxUnrecorded = 512;
const faultPauseMs = 1_000;

/** Files with embedded documents have many megabytes, several times over while they are made: so few are in memory. */
const largeAtOnce = 2;

function isLarge({ completion }: DeliveryToRender): boolean {
  return completion?.embedsDocuments === true && completion.execution.includes('"documents":[');
}

export class TargetRunner {
  readonly target: OutboundTarget;
  readonly #deps: RunnerDeps;
  readonly #due: DueDeliveries;
  readonly #health: TargetHealth;
  readonly #stopping = new AbortController();
  readonly #held = new Set<number>();
  readonly #lines = new HeldLines();
  readonly #large = new FewAtOnce(largeAtOnce);
  /** How often in a row a delivery has found its name taken. */
  readonly #moves = new Map<number, number>();
  /** Attempts under way, by the target that they use: a target that was replaced is closed after its last one. */
  readonly #attempts = new Set<Promise<void>>();
  #inUse: TargetInUse;
  #isLooking = false;
  #hasNews = false;
  #isStopped = false;
  /** After a fault of our own, so that it does not fill the log. */
  #restUntil = 0;
  /** Attempts under way on the target as it is now. */
  #places = { active: 0 };
  /** Those that have begun since it failed: what hangs from before must not hold up the next try. */
  #round = { active: 0 };

  constructor(target: OutboundTarget, inUse: TargetInUse, deps: RunnerDeps) {
    this.target = target;
    this.#inUse = inUse;
    this.#deps = deps;
    const { id: targetId, companyCode } = target;
    this.#due = new DueDeliveries({ read: deps.store.read, targetId, companyCode });
    this.#health = new TargetHealth(target);
  }

  get inUse(): TargetInUse {
    return this.#inUse;
  }

  /** Goes by what the store says of the pause: another process may have ended it. */
  heed({ pausedUntil }: Pick<OutboundTarget, "pausedUntil">): void {
    if (!this.#health.isEndedBy(pausedUntil, this.#deps.clock.now())) return;
    this.#health.beginAnew();
    this.#round = { active: 0 };
  }

  /** Something may be due: rows were written (`isNews`), or time has passed. Costs nothing when nothing can be. */
  look(isNews: boolean): void {
    if (isNews) this.#due.expectNews();
    this.#hasNews = true;
    if (this.#isLooking || this.#isStopped) return;
    this.#isLooking = true;
    void this.#fillPlaces();
  }

  /** Uses another target from now on, at once; the old one is closed when its attempts are over. */
  async replace(inUse: TargetInUse): Promise<void> {
    const old = this.#inUse;
    this.#inUse = inUse;
    this.#health.beginAnew();
    this.#round = { active: 0 };
    const isOther = old.target !== inUse.target;
    if (isOther) this.#places = { active: 0 };
    this.look(true);
    if (!isOther) return;
    await Promise.all(this.#attempts);
    await old.target.close();
  }

  /** Takes no more; resolves when the attempts in hand are over, which the deadline ends, and recorded. */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#isStopped = true;
    const abort = () => this.#stopping.abort(deadline.reason);
    deadline.addEventListener("abort", abort, { once: true });
    if (deadline.aborted) abort();
    await Promise.all(this.#attempts);
    deadline.removeEventListener("abort", abort);
  }

  /** Resolves when all that is due now has been tried and recorded. */
  async settled(): Promise<void> {
    while (this.#isLooking || this.#attempts.size > 0) {
      await Promise.all(this.#attempts);
      await setImmediate();
    }
  }

  async #fillPlaces(): Promise<void> {
    try {
      while (this.#hasNews) {
        this.#hasNews = false;
        while (this.#hasPlace()) {
          const row = await this.#due.next(this.#deps.clock.now(), this.#held);
          if (row === undefined || this.#isStopped) break;
          if (this.#lines.take(row.orderKey)) this.#begin(row);
        }
      }
    } catch (error) {
      this.#rest(error);
    }
    this.#isLooking = false;
  }

  #rest(error: unknown): void {
    this.#restUntil = this.#deps.clock.now() + faultPauseMs;
    const { companyCode: company, name: target } = this.target;
    this.#deps.log.error({ err: error, company, target }, "deliveries came to a halt; going on soon");
  }

  #hasPlace(): boolean {
    const now = this.#deps.clock.now();
    if (this.#isStopped || now < this.#restUntil || this.#health.isPaused(now)) return false;
    if (this.#health.isOnTrial && this.#round.active > 0) return false;
    if (this.#places.active >= Math.max(1, this.#inUse.target.concurrency)) return false;
    return this.#held.size < maxUnrecorded && this.#due.mayHave(now);
  }

  #begin(row: DeliveryToRender): void {
    this.#held.add(row.id);
    const attempt = this.#attempt(row).catch((error: unknown) => this.#rest(error));
    this.#attempts.add(attempt);
    void attempt.finally(() => this.#attempts.delete(attempt));
  }

  async #attempt(row: DeliveryToRender): Promise<void> {
    const { clock, random } = this.#deps;
    const at = clock.now();
    const begun = performance.now();
    const { round } = this.#health;
    const result = await this.#try(row);
    if (result.kind === "aborted") {
      this.#release(row);
      return;
    }
    const told = { now: clock.now(), random: random() };
    const pause = this.#health.learn(result, round, told);
    if (pause !== undefined) this.#noteHealth(pause, result);
    const durationMs = Math.round(performance.now() - begun);
    const moves = this.#moves.get(row.id) ?? 0;
    const record = attemptRecordOf({ row, result, at, durationMs, moves, ...told });
    // Its place is free before its outcome is durable; the delivery itself is held.
    this.look(false);
    await this.#record(row, record, pause);
  }

  /** Takes a place until the attempt is over. */
  async #try(row: DeliveryToRender): Promise<AttemptResult> {
    const counts = [this.#places, this.#round];
    for (const count of counts) count.active += 1;
    const { log, render } = this.#deps;
    const deps = { render, log, inUse: this.#inUse, stopping: this.#stopping.signal };
    const attempt = () => attemptDelivery(deps, row);
    const result = await (isLarge(row) ? this.#large.run(attempt) : attempt());
    for (const count of counts) count.active -= 1;
    return result;
  }

  #noteHealth(pause: TargetPause, result: AttemptResult): void {
    const fields = { company: this.target.companyCode, target: this.target.name };
    if (pause.failures === 0) {
      this.#deps.log.info(fields, "the target takes deliveries again");
      return;
    }
    this.#round = { active: 0 };
    const { failures } = pause;
    const nextAttemptAt = isoTime(pause.pausedUntil);
    const why =
      result.kind === "tried" && result.outcome.kind === "failed" ? result.outcome.message : undefined;
    this.#deps.log.warn(
      { ...fields, failures, nextAttemptAt, message: why },
      "the target is left alone for now",
    );
  }

  async #record(row: DeliveryToRender, record: AttemptRecord, pause: TargetPause | undefined): Promise<void> {
    const { recorder, log } = this.#deps;
    try {
      await recorder.add(pause === undefined ? { record } : { record, pause });
    } catch (error) {
      // It stays held: only a restart sends it again.
      log.error({ err: error, delivery: row.guid }, "the outcome of a delivery is not recorded");
      return;
    }
    const isAwaited = this.#release(row);
    if (record.kind === "nameTaken") this.#moves.set(row.id, (this.#moves.get(row.id) ?? 0) + 1);
    else this.#moves.delete(row.id);
    this.#deps.onAttempt(record);
    logAttempt(log, { row, record, target: this.target.name });
    const isPutOff = record.kind === "later" || record.kind === "postponed";
    if (isPutOff) this.#due.expectAt(record.dueAt);
    this.look(!isPutOff || isAwaited);
  }

  /** Whether another one of its line was to be tried meanwhile. */
  #release(row: DeliveryToRender): boolean {
    this.#held.delete(row.id);
    return this.#lines.release(row.orderKey);
  }
}
