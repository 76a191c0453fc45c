/**
 * Files of companies whose work another node does: they lie under their final names, and go into the ledger, from which that
 * node takes them (specification/operation.md#several-nodes). The same unit of work counts them in the company's lane, so that
 * the other node decides nothing before it has them in line.
 *
 * A file may be in the ledger already, because a scan of the other node was quicker; or be decided and filed away by then. So
 * it is looked for under the lock of the lane: while the entry waits, there is one for a source; once it is filed, the file is
 * gone. Between the two, a file whose close was answered before has to wait: it may be that of the entry, or a later one.
 */
import { lstatSync } from "node:fs";
import type { Clock } from "../lib/clock.ts";
import { isPassingStoreError } from "../lib/store-error.ts";
import type { LimitedLog } from "../lib/logs/limited-log.ts";
import { sleep } from "../lib/sleep.ts";
import { countArrivals } from "../store/cluster/arrivals.ts";
import type { Store } from "../store/database/database.ts";
import type { Transaction } from "../store/database/group-commit.ts";
import { enterFileOnce, isDecidedUnfiled } from "../store/ledger/files.ts";
import { newFileOf } from "./entering-files.ts";
import { pathOf, type WaitingFile } from "./lanes/waiting-file.ts";
import type { Locations } from "./places/locations.ts";

export interface EnteredElsewhereDeps {
  readonly store: Pick<Store, "write">;
  readonly locations: Locations;
  readonly clock: Clock;
  readonly failing: LimitedLog;
}

interface Entering {
  /** Whether the node that has the company may have decided about them, as files that it has found. */
  readonly mayBeDecided: boolean;
}

const pauseMs = 500;
/** As long as a client waits for an answer without harm, and a database for its successor. */
const patienceMs = 20_000;

export class EnteredElsewhere {
  readonly #deps: EnteredElsewhereDeps;
  readonly #stopping = new AbortController();
  readonly #underWay = new Set<Promise<void>>();

  constructor(deps: EnteredElsewhereDeps) {
    this.#deps = deps;
  }

  /** Resolves when the ledger has them; rejects when it does not take them for some time. All are of one company. */
  async enter(files: readonly WaitingFile[]): Promise<void> {
    await this.#enterPatiently(files, { mayBeDecided: false });
  }

  /** Gives those that have to wait. */
  async #enterPatiently(files: readonly WaitingFile[], how: Entering): Promise<readonly WaitingFile[]> {
    const until = performance.now() + patienceMs;
    for (;;) {
      try {
        return await this.#enterOnce(files, how);
      } catch (error) {
        const isOver = performance.now() > until || this.#stopping.signal.aborted;
        if (isOver || !isPassingStoreError(error)) throw error;
        this.#deps.failing.warn(
          { err: error, files: files.length },
          "the ledger cannot be written; retrying",
        );
        await sleep(pauseMs, this.#stopping.signal);
      }
    }
  }

  /** The same however long it takes, for files whose close was answered before. What it does not enter, a scan finds. */
  enterSurely(files: readonly WaitingFile[]): void {
    const entering = this.#enterSurely(files).finally(() => this.#underWay.delete(entering));
    this.#underWay.add(entering);
  }

  /** Tries each once more. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#underWay);
  }

  async #enterSurely(given: readonly WaitingFile[]): Promise<void> {
    for (let files = given; files.length > 0; ) {
      try {
        files = await this.#enterPatiently(files, { mayBeDecided: true });
      } catch (error) {
        const fields = { err: error, files: files.length };
        this.#deps.failing.warn(fields, "files of a company that another node has are not in the ledger yet");
      }
      if (this.#stopping.signal.aborted) return;
      if (files.length > 0) await sleep(pauseMs, this.#stopping.signal);
    }
  }

  async #enterOnce(files: readonly WaitingFile[], how: Entering): Promise<readonly WaitingFile[]> {
    const [first] = files;
    if (first === undefined) return [];
    const { companyId } = first;
    const enteredAt = this.#deps.clock.now();
    return await this.#deps.store.write(companyId, (tx) =>
      this.#insert(tx, files, { companyId, enteredAt, ...how }),
    );
  }

  async #insert(
    tx: Transaction,
    files: readonly WaitingFile[],
    {
      companyId,
      enteredAt,
      mayBeDecided,
    }: { readonly companyId: number; readonly enteredAt: number } & Entering,
  ): Promise<readonly WaitingFile[]> {
    const { locations } = this.#deps;
    let count = 0;
    const left: WaitingFile[] = [];
    for (const file of files) {
      const entry = newFileOf(file, { locations, enteredAt });
      // Asked first: an entry that is filed has moved its file before.
      const isBeingFiled = mayBeDecided && (await isDecidedUnfiled(tx, entry));
      if (lstatSync(pathOf(file), { throwIfNoEntry: false }) === undefined) continue;
      if (isBeingFiled) {
        left.push(file);
        continue;
      }
      const { isNew } = await enterFileOnce(tx, entry);
      if (isNew) count += 1;
    }
    if (count > 0) await countArrivals(tx, companyId, count);
    return left;
  }
}
