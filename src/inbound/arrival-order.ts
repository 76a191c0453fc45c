/** The order in which files have come, over all companies and also over a restart. */
import type { Clock } from "../lib/clock.ts";
import type { LedgerEntry } from "../store/ledger/files.ts";
import type { Arrival } from "./places/inbox.ts";

/** More than an earlier run can have left in `inbound/`. */
const recoveredSequences = 2 ** 24;

export class ArrivalOrder {
  readonly #clock: Clock;
  #sequence = 0;
  #lastReceivedAt = 0;
  /** Of files that an earlier run has left: after those of the ledger, before those of this run. */
  #recoveredSequence = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A waiting entry of the ledger: files that come from now on came after it. */
  noteEntry({ id, receivedAt }: Pick<LedgerEntry, "id" | "receivedAt">): void {
    this.#sequence = Math.max(this.#sequence, id);
    this.#lastReceivedAt = Math.max(this.#lastReceivedAt, receivedAt);
  }

  /** All entries of the ledger are known. */
  recovered(): void {
    this.#recoveredSequence = this.#sequence;
    this.#sequence += recoveredSequences;
  }

  /** Files of an earlier run came before all that come now, whenever the scan finds them. */
  next(channel: Arrival["channel"]): number {
    if (channel !== "recovered") {
      this.#sequence += 1;
      return this.#sequence;
    }
    this.#recoveredSequence += 1;
    return this.#recoveredSequence;
  }

  /** When the file came, not when it is handed over: start-up knows no other time of the files that it finds. */
  receivedAtOf({ receivedAt }: Pick<Arrival, "receivedAt">): number {
    if (receivedAt !== undefined) return Math.trunc(receivedAt);
    this.#lastReceivedAt = Math.max(this.#lastReceivedAt, this.#clock.now());
    return this.#lastReceivedAt;
  }
}
