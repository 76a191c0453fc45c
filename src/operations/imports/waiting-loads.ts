/** Takes imported loads in their order, in groups that share a commit; holds those that it cannot decide. */
import { isDiskFault } from "../../lib/files/disk-fault.ts";
import { createLimitedLog, type LimitedLog } from "../../lib/logs/limited-log.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { isPassingStoreError } from "../../lib/store-error.ts";
import { noteAlive } from "../../store/database/meta.ts";
import {
  companyOfImport,
  type ItemKey,
  readWaitingItem,
  type WaitingItem,
} from "../../store/stops/imports.ts";
import type { StoreDeps } from "../operation-deps.ts";
import { decideLoad, type ReadLoad } from "./decide-load.ts";
import { LoadNumberSet, numbersOf } from "./held-loads.ts";
import { type LoadLines, readLoadText } from "./load-text.ts";

export interface WaitingLoadsDeps extends StoreDeps {
  readonly log: Logger;
  /** For large loads that an earlier version has kept; without it they are read here. */
  readonly readers?: LoadLines;
}

export class WaitingLoads {
  readonly #deps: WaitingLoadsDeps;
  readonly #failing: LimitedLog;
  readonly #held = new LoadNumberSet();
  #heldCount = 0;

  constructor(deps: WaitingLoadsDeps) {
    this.#deps = deps;
    this.#failing = createLimitedLog(deps.log);
  }

  /** Whether any wait for the store. */
  get hasHeld(): boolean {
    return this.#heldCount > 0;
  }

  /** The next pass takes the held loads again. */
  forgetHeld(): void {
    this.#heldCount = 0;
    this.#held.clear();
  }

  /** Nothing more is taken. */
  close(): void {
    this.#failing.flush();
  }

  /** Rejects when nothing can be decided about at all; then they are taken again from the first. */
  async take(keys: readonly ItemKey[]): Promise<void> {
    let group: ReadLoad[] = [];
    const numbers = new LoadNumberSet();
    const decide = async () => {
      await this.#decideAll(group);
      group = [];
      numbers.clear();
    };
    for (const key of keys) {
      const read = await this.#read(key);
      if (read === undefined) continue;
      const own = numbersOf(read.item.companyId, read.item.loadNbr, read.load);
      // Two of the same numbers are not in one group: when the first fails, the second must not go before it.
      if (numbers.has(own)) await decide();
      if (this.#held.has(own)) {
        this.#held.add(own);
        this.#heldCount += 1;
        continue;
      }
      numbers.add(own);
      group.push(read);
    }
    await decide();
  }

  /** Undefined when it is held, or decided already. */
  async #read(key: ItemKey): Promise<ReadLoad | undefined> {
    let item: WaitingItem | undefined;
    try {
      item = await readWaitingItem(this.#deps.store.read, key);
    } catch (error) {
      await this.#holdUnread(key, error);
      return undefined;
    }
    if (item === undefined) return undefined;
    try {
      return {
        item,
        load: await readLoadText(item.body, { lines: this.#deps.readers, companyId: item.companyId }),
      };
    } catch (error) {
      return { item, load: undefined, error };
    }
  }

  async #holdUnread(key: ItemKey, error: unknown): Promise<void> {
    await this.#throwIfGeneral(error);
    this.#heldCount += 1;
    if (isPassingStoreError(error)) {
      const companyId = await companyOfImport(this.#deps.store.read, key.importId);
      if (companyId !== undefined) this.#held.addAll(companyId);
    }
    this.#failing.warn({ err: error, ...key }, "an imported load cannot be read now; it waits");
  }

  /** Waits for all of them, so that none is still running when the next listing finds it. */
  async #decideAll(group: readonly ReadLoad[]): Promise<void> {
    const outcomes = await Promise.allSettled(group.map((read) => decideLoad(this.#deps, read)));
    for (const [index, outcome] of outcomes.entries()) {
      const read = group[index];
      if (outcome.status !== "rejected" || read === undefined) continue;
      await this.#throwIfGeneral(outcome.reason);
      this.#hold(read, outcome.reason);
    }
  }

  /** Tells a full disk from a page that cannot be read: with that one only the loads that need it are held. */
  async #throwIfGeneral(error: unknown): Promise<void> {
    if (!isPassingStoreError(error) && !isDiskFault(error)) return;
    const { store, clock } = this.#deps;
    const isWritable = await noteAlive(store, clock.now()).then(
      () => true,
      () => false,
    );
    if (!isWritable) throw error;
  }

  #hold({ item, load }: ReadLoad, error: unknown): void {
    const { companyId, loadNbr, guid: importId } = item;
    this.#heldCount += 1;
    this.#held.add(numbersOf(companyId, loadNbr, load));
    this.#failing.warn(
      { err: error, loadNbr, companyId, importId },
      "an imported load cannot be applied now; it and the later ones of its stops wait",
    );
  }
}
