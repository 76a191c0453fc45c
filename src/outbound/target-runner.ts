/**
 * Delivers to one target: as many at a time as it takes, in order of their due times, nothing while it is paused.
 *
 *   (store) due ──page──> ready ──place──> tried ──outcome──> recorded ──> (store) delivered, waiting, dead
 *                                    └────────── in flight ────────┘
 *
 * Nothing of this survives a crash: what was not recorded is waiting, and is sent again under the same id with the same
 * bytes.
 */
import { setImmediate } from "node:timers/promises";
import { shareRuns } from "../lib/files/shared-run.ts";
import type { Store } from "../store/database/database.ts";
import { FencedError } from "../store/database/fence.ts";
import type { OutboundTarget } from "../store/outbound/outbound-targets.ts";
import type { TargetInUse } from "./attempt.ts";
import { attemptRecordOf, logAttempt } from "./attempt-record.ts";
import type { DeliveryToRender } from "./delivery-to-render.ts";
import { DueDeliveries } from "./due-deliveries.ts";
import { InFlight } from "./in-flight.ts";
import type { OutcomeRecorder, OutcomeToRecord } from "./outcome-recorder.ts";
import type { AttemptRecord } from "./record-attempts.ts";
import { type AttemptsDeps, TargetAttempts } from "./target-attempts.ts";

export interface RunnerDeps extends AttemptsDeps {
  readonly store: Pick<Store, "read">;
  readonly recorder: Pick<OutcomeRecorder, "add">;
  readonly onAttempt: (record: AttemptRecord, row: DeliveryToRender) => void;
}

/** Outcomes that wait to be recorded; beyond it no more is sent, because all of it would be sent again after a crash. */
const maxUnrecorded = 512;
const faultPauseMs = 1_000;

export class TargetRunner {
  readonly target: OutboundTarget;
  readonly #deps: RunnerDeps;
  readonly #due: DueDeliveries;
  readonly #attempts: TargetAttempts;
  readonly #inFlight = new InFlight();
  /** Deliveries from being taken to being recorded: a target that was replaced is closed after its last one. */
  readonly #running = new Set<Promise<void>>();
  readonly #fill = shareRuns(() => this.#fillPlaces());
  #isStopped = false;
  /** After a fault of dropgate itself, so that it does not fill the log. */
  #restUntil = 0;

  constructor(target: OutboundTarget, inUse: TargetInUse, deps: RunnerDeps) {
    this.target = target;
    this.#deps = deps;
    const { id: targetId, companyCode } = target;
    this.#due = new DueDeliveries({ read: deps.store.read, targetId, companyCode });
    this.#attempts = new TargetAttempts(target, inUse, deps);
  }

  get inUse(): TargetInUse {
    return this.#attempts.inUse;
  }

  /** Takes over the pauses as the store has them: another process may have ended or begun one. */
  heed(stored: Pick<OutboundTarget, "pausedUntil" | "pausedBy">): void {
    const { isResumed } = this.#attempts.heed(stored);
    // What was read before the pause may have been changed meanwhile.
    if (isResumed) this.#due.expectNews();
  }

  /** Something may be due: rows were written (`isNews`), or time has passed. Free when nothing can be. */
  look(isNews: boolean): void {
    if (isNews) this.#due.expectNews();
    if (!this.#isStopped) void this.#fill();
  }

  /** Uses another target from now on, at once; the old one is closed when its attempts are over. */
  async replace(inUse: TargetInUse): Promise<void> {
    const { target: old } = this.inUse;
    this.#attempts.replace(inUse);
    this.look(true);
    if (old === inUse.target) return;
    await Promise.all(this.#running);
    await old.close();
  }

  /** Takes no more; resolves when the attempts in hand are over, which the deadline ends, and recorded. */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#isStopped = true;
    this.#attempts.endBy(deadline);
    await Promise.all(this.#running);
  }

  /** Resolves when all that is due now has been tried and recorded. */
  async settled(): Promise<void> {
    do {
      await Promise.all(this.#running);
      await setImmediate();
      await this.#fill();
    } while (this.#running.size > 0);
  }

  async #fillPlaces(): Promise<void> {
    try {
      while (this.#hasPlace()) {
        const row = await this.#due.next(this.#deps.clock.now(), this.#inFlight.ids);
        if (row === undefined || this.#isStopped) return;
        if (this.#inFlight.take(row)) this.#begin(row);
      }
    } catch (error) {
      this.#rest(error);
    }
  }

  #rest(error: unknown): void {
    this.#restUntil = this.#deps.clock.now() + faultPauseMs;
    const { companyCode: company, name: target } = this.target;
    this.#deps.log.error({ err: error, company, target }, "deliveries to a target failed; continuing soon");
  }

  #hasPlace(): boolean {
    const now = this.#deps.clock.now();
    if (this.#isStopped || now < this.#restUntil || !this.#attempts.hasPlace(now)) return false;
    return this.#inFlight.ids.size < maxUnrecorded && this.#due.mayHave(now);
  }

  #begin(row: DeliveryToRender): void {
    const running = this.#deliver(row).catch((error: unknown) => this.#rest(error));
    this.#running.add(running);
    void running.finally(() => this.#running.delete(running));
  }

  async #deliver(row: DeliveryToRender): Promise<void> {
    const ended = await this.#attempts.make(row);
    if (ended === undefined) {
      this.#inFlight.release(row);
      return;
    }
    const { pause, ...attempt } = ended;
    const record = attemptRecordOf({ row, ...attempt, moves: this.#inFlight.movesOf(row) });
    // Its place is free before its outcome is durable; the delivery itself is in flight.
    this.look(false);
    await this.#record(row, { record, ...(pause === undefined ? {} : { pause }) });
  }

  async #record(row: DeliveryToRender, outcome: OutcomeToRecord): Promise<void> {
    const { recorder, log, onAttempt } = this.#deps;
    const { record } = outcome;
    try {
      await recorder.add(outcome);
    } catch (error) {
      // It stays in flight: only a restart, or another node, sends it again.
      if (error instanceof FencedError) return;
      log.error({ err: error, delivery: row.guid }, "the outcome of a delivery is not recorded");
      return;
    }
    const isAwaited = this.#inFlight.release(row);
    this.#inFlight.noteMove(row, record.kind === "nameTaken");
    onAttempt(record, row);
    logAttempt(log, { row, record, target: this.target.name });
    const isPutOff = record.kind === "later" || record.kind === "postponed";
    if (isPutOff) this.#due.expectAt(record.dueAt);
    this.look(!isPutOff || isAwaited);
  }
}
