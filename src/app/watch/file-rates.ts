/**
 * Keeps how many files of each company were decided in each minute, and how long they took to their receipts: what is shown
 * over a restart. It counts in memory, and writes once a minute, together with what is written anyway.
 *
 * A crash loses what was counted since the last write, a minute at most. What cannot be written is kept for later, and after
 * a day the oldest of it is forgotten.
 */
import { delayClassOf } from "../../domain/files/delay-counts.ts";
import type { DecisionNews, DecisionWatch } from "../../inbound/lanes/decision-watch.ts";
import type { Clock } from "../../lib/clock.ts";
import { dayMs, minuteMs } from "../../lib/durations.ts";
import { loggingFirstFailure } from "../../lib/logs/first-failure.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { Store } from "../../store/database/database.ts";
import { addFileRates, type FileRateAt } from "../../store/ledger/file-rates.ts";
import { type Rounds, startRounds } from "../../lib/rounds.ts";

export interface FileRatesDeps {
  readonly store: Pick<Store, "writeSoon">;
  readonly clock: Clock;
  readonly log: Logger;
  /** A minute unless given. */
  readonly everyMs?: number;
}

interface Counted {
  readonly companyId: number;
  /** When the minute began. */
  readonly at: number;
  applied: number;
  refused: number;
  others: number;
  readonly delays: Map<number, number>;
}

/** Counts from its making on. */
export class FileRates implements DecisionWatch {
  readonly #deps: FileRatesDeps;
  readonly #rounds: Rounds;
  readonly #tryTo: ReturnType<typeof loggingFirstFailure>;
  /** By company and minute. */
  #counted = new Map<string, Counted>();

  constructor(deps: FileRatesDeps) {
    this.#deps = deps;
    this.#tryTo = loggingFirstFailure(deps.log, "figures of files cannot be kept; retrying");
    this.#rounds = startRounds(() => this.#keep(), { everyMs: deps.everyMs ?? minuteMs });
  }

  decided({ companyId, state }: DecisionNews): void {
    const counted = this.#now(companyId);
    if (state === "applied") counted.applied += 1;
    else if (state === "refused") counted.refused += 1;
    else counted.others += 1;
  }

  receiptWritten(companyId: number, delayMs: number): void {
    const { delays } = this.#now(companyId);
    const delayClass = delayClassOf(delayMs);
    delays.set(delayClass, (delays.get(delayClass) ?? 0) + 1);
  }

  /** Writes what was counted. Never rejects. */
  keep(): Promise<void> {
    return this.#rounds.run();
  }

  async stop(): Promise<void> {
    await this.#rounds.stop();
    await this.#keep();
  }

  #now(companyId: number): Counted {
    const now = this.#deps.clock.now();
    return this.#at(companyId, now - (now % minuteMs));
  }

  #at(companyId: number, at: number): Counted {
    const key = `${companyId} ${at}`;
    const known = this.#counted.get(key);
    if (known !== undefined) return known;
    const counted = { companyId, at, applied: 0, refused: 0, others: 0, delays: new Map<number, number>() };
    this.#counted.set(key, counted);
    return counted;
  }

  async #keep(): Promise<void> {
    const taken = [...this.#counted.values()];
    if (taken.length === 0) return;
    this.#counted = new Map();
    const { store, clock } = this.#deps;
    let isKept = false;
    await this.#tryTo(async () => {
      await store.writeSoon("site", (tx) => addFileRates(tx, taken, clock.now()));
      isKept = true;
    });
    if (!isKept) this.#takeBack(taken);
  }

  #takeBack(taken: readonly FileRateAt[]): void {
    const oldest = this.#deps.clock.now() - dayMs;
    for (const { companyId, at, applied, refused, others, delays } of taken) {
      if (at < oldest) continue;
      const counted = this.#at(companyId, at);
      counted.applied += applied;
      counted.refused += refused;
      counted.others += others;
      for (const [one, count] of delays) counted.delays.set(one, (counted.delays.get(one) ?? 0) + count);
    }
  }
}
