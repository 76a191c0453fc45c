/**
 * Files of companies whose work another node does: they lie under their final names, and go into the ledger, from which that
 * node takes them (specification/operation.md#several-nodes). The same transaction tells it of each, so that it decides nothing
 * that comes after them before it has them in line.
 *
 * A file may be in the ledger already, because a scan of the other node was quicker; or be decided and filed away by then. While
 * the entry waits, there is one for a source; once it is filed, the file is gone. Between the two it has to wait: it may be that
 * of the entry, which a scan has found before, or a later one. A network file system may show for a moment that a file is there
 * which another node has moved.
 *
 * A receipt that was there before the entry is made is that of an earlier file of the name: it is removed when the entry is
 * committed, so before the close is answered.
 */
import type { NewFile } from "../domain/files/new-file.ts";
import type { Clock } from "../lib/clock.ts";
import { isStillThere } from "../lib/files/is-still-there.ts";
import { isPassingStoreError } from "../lib/store-error.ts";
import type { LimitedLog } from "../lib/logs/limited-log.ts";
import { sleep } from "../lib/sleep.ts";
import type { ArrivalTable } from "../store/cluster/arrivals.ts";
import { newFileOf } from "./entering-files.ts";
import { pathOf, type WaitingFile } from "./lanes/waiting-file.ts";
import type { Locations } from "./places/locations.ts";
import type { ReceiptsOfOthers } from "./places/receipt-files.ts";
import type { ReadReceipt } from "./places/shared-moves.ts";
import { receiptPathOf } from "./receipts/awaited-receipts.ts";

export interface EnteredElsewhereDeps {
  readonly arrivals: Pick<ArrivalTable, "enter">;
  readonly locations: Locations;
  readonly companyCodeOf: (companyId: number) => Promise<string>;
  readonly receipts: ReceiptsOfOthers;
  readonly clock: Clock;
  readonly failing: LimitedLog;
}

/**
 * Longer than attributes of files are kept where the tree is mounted as docs/cluster.md has it: an entry that was not answered may
 * have been made, and the file be decided and filed by now.
 */
const pauseMs = 1_200;
/** As long as a client waits for an answer without harm, and a database for its successor. */
const patienceMs = 20_000;

/** An entry of the same source is decided, and its file perhaps not moved yet. */
class BeingFiledError extends Error {
  readonly file: WaitingFile;

  constructor(file: WaitingFile) {
    super(`a file of the name ${file.name} is being filed`);
    this.name = "BeingFiledError";
    this.file = file;
  }
}

export class EnteredElsewhere {
  readonly #deps: EnteredElsewhereDeps;
  readonly #stopping = new AbortController();
  readonly #underWay = new Set<Promise<void>>();
  /** Those of which nobody waits for the entry. */
  readonly #handedOn = new Set<WaitingFile>();

  constructor(deps: EnteredElsewhereDeps) {
    this.#deps = deps;
  }

  /** Resolves when the ledger has them; rejects when it does not take them for some time. */
  async enter(files: readonly WaitingFile[]): Promise<void> {
    const until = performance.now() + patienceMs;
    for (;;) {
      try {
        return await this.#enterOnce(files);
      } catch (error) {
        const isOver = performance.now() > until || this.#stopping.signal.aborted;
        const isBeingFiled = error instanceof BeingFiledError;
        if (isOver || !(isBeingFiled || isPassingStoreError(error))) throw error;
        const fields = { err: error, files: files.length };
        if (!isBeingFiled) this.#deps.failing.warn(fields, "the ledger cannot be written; retrying");
        await sleep(pauseMs, this.#stopping.signal);
      }
    }
  }

  /** The same however long it takes, for files whose close was answered before. What it does not enter, a scan finds. */
  enterSurely(files: readonly WaitingFile[]): void {
    for (const file of files) this.#handedOn.add(file);
    const entering = this.#enterSurely(files).finally(() => {
      this.#underWay.delete(entering);
      for (const file of files) this.#handedOn.delete(file);
    });
    this.#underWay.add(entering);
  }

  /** Whether a file that was given to `enterSurely` is still to be entered. */
  isEntering(path: string): boolean {
    return [...this.#handedOn].some((file) => pathOf(file) === path);
  }

  /** Tries each once more. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#underWay);
  }

  async #enterSurely(given: readonly WaitingFile[]): Promise<void> {
    for (let files = given; ; ) {
      try {
        await this.enter(files);
        return;
      } catch (error) {
        if (error instanceof BeingFiledError) {
          // It is that of the entry. A later one in its place is entered by whoever has put it there, or found by a scan.
          files = files.filter((file) => file !== error.file);
          continue;
        }
        const fields = { err: error, files: files.length };
        this.#deps.failing.warn(fields, "files of a company that another node has are not in the ledger yet");
        if (this.#stopping.signal.aborted) return;
        await sleep(pauseMs, this.#stopping.signal);
      }
    }
  }

  async #enterOnce(files: readonly WaitingFile[]): Promise<void> {
    if (files.length === 0) return;
    const { arrivals, locations, clock } = this.#deps;
    const enteredAt = clock.now();
    const asEntry = (file: WaitingFile): NewFile => newFileOf(file, { locations, enteredAt });
    const byEntry = new Map(files.map((file) => [asEntry(file), file]));
    const isThere = async (entry: NewFile) => {
      const file = byEntry.get(entry);
      return file !== undefined && (await isStillThere(pathOf(file)));
    };
    const earlier = await Promise.all(files.map((file) => this.#earlierReceiptOf(file)));
    const ends = await arrivals.enter([...byEntry.keys()], isThere);
    const stale = earlier.filter((receipt, at) => receipt !== undefined && ends[at] === "entered");
    await Promise.all(stale.map((receipt) => receipt && this.#remove(receipt)));
    const beingFiled = files.find((_, at) => ends[at] === "being filed");
    if (beingFiled !== undefined) throw new BeingFiledError(beingFiled);
  }

  async #earlierReceiptOf({ companyId, name }: WaitingFile): Promise<ReadReceipt | undefined> {
    const { locations, companyCodeOf, receipts } = this.#deps;
    const path = receiptPathOf(locations, await companyCodeOf(companyId), name);
    return await receipts.read(path).catch((error: unknown) => this.#cannotRemove(path, error));
  }

  /** The file is entered by now, and cannot be refused; the node that has the company tries it too. */
  async #remove(receipt: ReadReceipt): Promise<void> {
    try {
      await this.#deps.receipts.removeRead(receipt);
    } catch (error) {
      this.#cannotRemove(receipt.path, error);
    }
  }

  #cannotRemove(path: string, error: unknown): undefined {
    this.#deps.failing.warn({ err: error, path }, "the receipt of an earlier file cannot be removed");
  }
}
