/** Takes imported loads in their order, in groups that share a commit; holds those that it cannot decide. */
import { isDiskFault } from "../../lib/files/disk-fault.ts";
import { createLimitedLog, type LimitedLog } from "../../lib/logs/limited-log.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { isPassingStoreError } from "../../lib/store-error.ts";
import { type Ownership, soleOwnership } from "../../store/cluster/ownership.ts";
import { TakenCompanies } from "../../lib/taken-companies.ts";
import { FencedError } from "../../store/database/fence.ts";
import { noteAlive } from "../../store/database/meta.ts";
import {
  companyOfImport,
  type ItemKey,
  listWaitingItems,
  readWaitingItem,
  type WaitingItem,
} from "../../store/stops/imports.ts";
import type { StoreDeps } from "../operation-deps.ts";
import { decideLoad, type ReadLoad } from "./decide-load.ts";
import { LoadNumberSet, numbersOf } from "./held-loads.ts";
import { type LoadLines, readLoadText } from "./load-text.ts";

/** Before the first of all. */
export const beginning: ItemKey = { importId: -1, position: -1 };

function textOf({ importId, position }: ItemKey): string {
  return `${importId} ${position}`;
}

export interface WaitingLoadsDeps extends StoreDeps {
  readonly log: Logger;
  /** For large loads that an earlier version has kept; without it they are read here. */
  readonly readers?: LoadLines;
  /** Without it this process applies the loads of all companies. */
  readonly ownership?: Pick<Ownership, "isSole">;
}

export class WaitingLoads {
  readonly #deps: WaitingLoadsDeps;
  readonly #failing: LimitedLog;
  readonly #held = new LoadNumberSet();
  readonly #heldKeys = new Set<string>();
  readonly #companies: TakenCompanies;
  /** Those that were taken last. */
  #inHand: Promise<void> = Promise.resolve();

  constructor(deps: WaitingLoadsDeps) {
    this.#deps = deps;
    this.#companies = new TakenCompanies(deps.ownership ?? soleOwnership);
    this.#failing = createLimitedLog(deps.log);
  }

  /** Whether any wait for the store. */
  get hasHeld(): boolean {
    return this.#heldKeys.size > 0;
  }

  /** The next pass takes the held loads again. */
  forgetHeld(): void {
    this.#heldKeys.clear();
    this.#held.clear();
  }

  /** Nothing more is taken. */
  close(): void {
    this.#failing.flush();
  }

  /** From now on those of the company are taken too. */
  begin(companyId: number): void {
    this.#companies.take(companyId);
  }

  /** Those of the company are taken no more. Resolves when none of them is in hand. */
  async end(companyId: number): Promise<void> {
    this.#companies.leave(companyId);
    await this.#inHand.catch(() => {
      // Whoever has taken them hears of it.
    });
    // All are tried once more: what was held of the company must not be passed over when it comes back.
    this.forgetHeld();
  }

  /**
   * The next ones, of the companies of this node: behind that one where one process has all. Where several write, those of a
   * company come in the order of its commits, but those of another with earlier numbers may come later: there all are
   * listed that are not held.
   */
  async list(after: ItemKey, limit: number): Promise<readonly ItemKey[]> {
    const { read } = this.#deps.store;
    const { all: companies } = this.#companies;
    if (companies === undefined) return await listWaitingItems(read, { after, limit, companies });
    if (companies.size === 0) return [];
    const wanted = { after: beginning, limit: limit + this.#heldKeys.size, companies };
    const keys = await listWaitingItems(read, wanted);
    return keys.filter((key) => !this.#heldKeys.has(textOf(key))).slice(0, limit);
  }

  /** Rejects when nothing can be decided about at all; then they are taken again from the first. */
  take(keys: readonly ItemKey[]): Promise<void> {
    this.#inHand = this.#take(keys);
    return this.#inHand;
  }

  async #take(keys: readonly ItemKey[]): Promise<void> {
    let group: ReadLoad[] = [];
    const numbers = new LoadNumberSet();
    const decide = async () => {
      await this.#decideAll(group);
      group = [];
      numbers.clear();
    };
    for (const key of keys) {
      const read = await this.#read(key);
      if (read === undefined || !this.#companies.has(read.item.companyId)) continue;
      const own = numbersOf(read.item.companyId, read.item.loadNbr, read.load);
      // Two of the same numbers are not in one group: when the first fails, the second must not go before it.
      if (numbers.has(own)) await decide();
      if (this.#held.has(own)) {
        this.#held.add(own);
        this.#heldKeys.add(textOf(key));
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
    this.#heldKeys.add(textOf(key));
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
      // The node that has the company now applies it.
      if (outcome.reason instanceof FencedError) continue;
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
    this.#heldKeys.add(textOf(item));
    this.#held.add(numbersOf(companyId, loadNbr, load));
    this.#failing.warn(
      { err: error, loadNbr, companyId, importId },
      "an imported load cannot be applied now; it and the later ones of its stops wait",
    );
  }
}
