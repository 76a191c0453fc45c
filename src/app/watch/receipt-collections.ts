/**
 * Keeps which receipts hosts have collected, first by whom and when (specification/file-exchange.md#moments). Notes are
 * gathered in memory and written each two seconds, together with what is written anyway: no file and no client waits for
 * them.
 *
 * A crash loses the notes of the last seconds. What cannot be written is kept for later, at most 10,000 of each company.
 */
import type { CollectedReceipt } from "../../exchange/exchange-deps.ts";
import type { Clock } from "../../lib/clock.ts";
import { secondMs } from "../../lib/durations.ts";
import { loggingFirstFailure } from "../../lib/logs/first-failure.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { portionsOf } from "../../lib/portions.ts";
import type { SealedNumbers } from "../../lib/sealed-numbers.ts";
import type { Store } from "../../store/database/database.ts";
import { type ReceiptCollection, recordReceiptCollections } from "../../store/ledger/receipt-collections.ts";
import { type Rounds, startRounds } from "../../lib/rounds.ts";

export interface ReceiptCollectionsDeps {
  readonly store: Pick<Store, "writeSoon">;
  readonly ledgerNumbers: Pick<SealedNumbers, "open">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Two seconds unless given. */
  readonly everyMs?: number;
}

const usualEveryMs = 2 * secondMs;
const atOnce = 256;
const mostKept = 10_000;

/** Notes from its making on. */
export class ReceiptCollections {
  readonly #deps: ReceiptCollectionsDeps;
  readonly #rounds: Rounds;
  readonly #tryTo: ReturnType<typeof loggingFirstFailure>;
  /** By company, oldest first. */
  #noted = new Map<number, ReceiptCollection[]>();

  constructor(deps: ReceiptCollectionsDeps) {
    this.#deps = deps;
    this.#tryTo = loggingFirstFailure(deps.log, "who collected receipts cannot be noted; retrying");
    this.#rounds = startRounds(() => this.#keep(), { everyMs: deps.everyMs ?? usualEveryMs });
  }

  /** Notes that a host has collected a receipt; one with a reference of another installation is left alone. */
  note({ companyId, reference, userName: by, over, isUnread }: CollectedReceipt): void {
    const fileId = this.#deps.ledgerNumbers.open(reference);
    if (fileId === undefined) return;
    this.#add(companyId, [{ companyId, fileId, at: this.#deps.clock.now(), by, over, isUnread }]);
  }

  /** Writes what was noted. Never rejects. */
  keep(): Promise<void> {
    return this.#rounds.run();
  }

  async stop(): Promise<void> {
    await this.#rounds.stop();
    await this.#keep();
  }

  #add(companyId: number, collections: readonly ReceiptCollection[]): void {
    const noted = this.#noted.get(companyId) ?? [];
    noted.push(...collections.slice(0, Math.max(0, mostKept - noted.length)));
    this.#noted.set(companyId, noted);
  }

  async #keep(): Promise<void> {
    const taken = this.#noted;
    this.#noted = new Map();
    const portions = [...taken].flatMap(([companyId, ofCompany]) =>
      [...portionsOf(ofCompany, atOnce)].map((portion) => ({ companyId, portion })),
    );
    const writing = portions.map(async ({ companyId, portion }) => {
      let isKept = false;
      await this.#tryTo(async () => {
        await this.#deps.store.writeSoon(companyId, (tx) => recordReceiptCollections(tx, portion));
        isKept = true;
      });
      if (!isKept) this.#takeBack(companyId, portion);
    });
    await Promise.all(writing);
  }

  /** Before what came meanwhile: the first collection is the one that counts. */
  #takeBack(companyId: number, portion: readonly ReceiptCollection[]): void {
    const since = this.#noted.get(companyId) ?? [];
    this.#noted.set(companyId, []);
    this.#add(
      companyId,
      [...portion, ...since].sort((a, b) => a.at - b.at),
    );
  }
}
